/* Replaces the host's header, which NVRTC does not have. */
#ifndef KF_T1_STDINT_H
#define KF_T1_STDINT_H
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef signed long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#endif
