/* Pieces of scene files. */
#ifndef KF_TESTS_UNIT_SCENE_TEXTS_H
#define KF_TESTS_UNIT_SCENE_TEXTS_H

#define BOX(faces, more) "{\"domain\": {\"cells\": [20, 16, 12], \"cell_size\": 0.1}, " faces ", " more "}"
#define PERIODIC                                                                                             \
    "\"boundaries\": {\"xmin\": \"periodic\", \"xmax\": \"periodic\", \"ymin\": \"periodic\", \"ymax\": "    \
    "\"periodic\", \"zmin\": \"periodic\", \"zmax\": \"periodic\"}"
#define TUNNEL                                                                                               \
    "\"boundaries\": {\"xmin\": \"inflow\", \"xmax\": \"outflow\", \"ymin\": \"free_slip\", \"ymax\": "      \
    "\"free_slip\", \"zmin\": \"wall\", \"zmax\": \"wall\"}"
#define FLOW           "\"flow\": {\"speed\": 2, \"reynolds\": 100}"
#define BALL           "\"solid\": {\"shape\": \"ball\", \"radius\": 0.3, \"position\": [1, 0.8, 0.6]}"
#define SMOKE(emitter) BOX(TUNNEL, FLOW ", " BALL ", \"smoke\": {\"emitters\": [" emitter "]}")

#endif
