/* heartbeat.c - see heartbeat.h. SPDX-License-Identifier: MIT */
#include "base/heartbeat.h"

void ray_heartbeat(void)
{
}

void ray_heartbeat_stop(void)
{
}
