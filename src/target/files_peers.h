/* files_peers.h - who holds the other ends of pipes and unix sockets.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_TARGET_FILES_PEERS_H
#define RAY_TARGET_FILES_PEERS_H

#include "target/files.h"

/* Fills in the peers: in the process itself, then in the other processes that can be looked at. Sets
 * files->note when the search was cut short. */
void ray_files_find_peers(int pid, struct ray_files *files);

#endif
