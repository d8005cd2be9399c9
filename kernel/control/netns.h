/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What there is in each network namespace, as long as the namespace and the module live. */
#ifndef PIB_CONTROL_NETNS_H
#define PIB_CONTROL_NETNS_H

/* Make a registry for each namespace. Process context. Return: 0 or -errno. */
int pib_netns_init(void);
/* Take everything apart: nothing can be made any more. Process context; sleeps. */
void pib_netns_exit(void);

#endif
