/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The registry of each network namespace, which lives as long as the namespace and the module. */
#ifndef PIB_CONTROL_NETNS_H
#define PIB_CONTROL_NETNS_H

/* Make a registry for each namespace. Context: process. Return: 0 or -errno. */
int pib_netns_init(void);
/* Take everything apart, when nothing can be made any more. Context: process; sleeps. */
void pib_netns_exit(void);

#endif
