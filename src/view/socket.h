/* socket.h - what a socket connects, as text. SPDX-License-Identifier: MIT */
#ifndef RAY_VIEW_SOCKET_H
#define RAY_VIEW_SOCKET_H

#include "base/text.h"

/* bytes are a struct ray_socket_name (kern/wire.h): "TCP:[127.0.0.1:80->127.0.0.1:5555]", "TCP:[[::]:80]" if it has no peer, "UNIX:["/run/x"]". Nothing if
 * it has no address yet, or none that is known here. */
void ray_socket_print(const void *bytes, size_t size, struct ray_text *out);

#endif
