/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Control by generic netlink (uapi/linux/pib.h). */
#ifndef PIB_CONTROL_NETLINK_H
#define PIB_CONTROL_NETLINK_H

#include <net/netlink.h>

struct genl_info;

/* Return: the value of attribute @attr, or @otherwise if it is not given. Context: any. */
static inline u8 pib_nl_u8(struct nlattr **tb, int attr, u8 otherwise)
{
	return tb[attr] ? nla_get_u8(tb[attr]) : otherwise;
}

/* As pib_nl_u8(). Context: any. Return: likewise. */
static inline u16 pib_nl_u16(struct nlattr **tb, int attr, u16 otherwise)
{
	return tb[attr] ? nla_get_u16(tb[attr]) : otherwise;
}

/* As pib_nl_u8(). Context: any. Return: likewise. */
static inline u32 pib_nl_u32(struct nlattr **tb, int attr, u32 otherwise)
{
	return tb[attr] ? nla_get_u32(tb[attr]) : otherwise;
}

/* As pib_nl_u8(). Context: any. Return: likewise. */
static inline u64 pib_nl_u64(struct nlattr **tb, int attr, u64 otherwise)
{
	return tb[attr] ? nla_get_u64(tb[attr]) : otherwise;
}

/*
 * Return: the name that attribute @attr, of an HCA or a switch, gives; NULL: it is missing, which
 * the extack says. Context: process.
 */
const char *pib_nl_name(struct genl_info *info, int attr);

/* Register the family. Context: process. Return: 0 or -errno. */
int pib_netlink_init(void);
/* Unregister the family; no request is under way on return. Context: process; sleeps. */
void pib_netlink_exit(void);

#endif
