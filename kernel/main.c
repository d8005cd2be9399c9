// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* pib: module entry. */
#include <linux/module.h>

static int __init pib_init(void)
{
	return 0;
}

static void __exit pib_exit(void)
{
}

module_init(pib_init);
module_exit(pib_exit);
MODULE_DESCRIPTION("InfiniBand over Ethernet");
MODULE_LICENSE("Dual BSD/GPL");
