/* Says whether this is built with AddressSanitizer, which takes several times the time and memory. */
#ifndef KF_TESTS_UNIT_SANITIZED_H
#define KF_TESTS_UNIT_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__)
enum { SANITIZED = 1 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif
#else
enum { SANITIZED = 0 };
#endif

#endif
