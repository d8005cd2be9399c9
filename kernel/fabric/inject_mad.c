// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Injections into MADs. The agents answer with the truth, and the answer is changed where it leaves
 * queue pair 0 or 1. So the requester is misled, but nothing in the HCA or the switch.
 */
#include <linux/kernel.h>
#include <linux/netlink.h>
#include "packet/burst.h"
#include "proto/mad.h"
#include "fabric/inject.h"
#include "fabric/inject_mad.h"

/* The header of all MADs (13.4.2). */
#define MAD_HEADER	24

/**
 * struct mad_lie - a field of which a response does not tell the truth
 * @attr: attribute in which the field is
 * @at: offset of its last byte in the attribute
 * @bytes: its length
 * @mask: bits of the last byte that belong to the field
 */
struct mad_lie {
	u16 attr;
	u8 at;
	u8 bytes;
	u8 mask;
};

/* 14.2.5.3, 14.2.5.6 */
static const struct mad_lie lies[] = {
	[PIB_INJECT_LIE_SYSTEM_IMAGE_GUID] = { PIB_SM_NODE_INFO, 11, 8, 0xff },
	[PIB_INJECT_LIE_NODE_GUID] = { PIB_SM_NODE_INFO, 19, 8, 0xff },
	[PIB_INJECT_LIE_PORT_GUID] = { PIB_SM_NODE_INFO, 27, 8, 0xff },
	[PIB_INJECT_LIE_PORT_STATE] = { PIB_SM_PORT_INFO, 32, 1, 0x0f },
};

static int check_lie(const struct pib_inject_cfg *cfg, struct netlink_ext_ack *extack)
{
	const struct mad_lie *lie;

	if (cfg->arg >= ARRAY_SIZE(lies)) {
		NL_SET_ERR_MSG(extack, "the field to lie about is unknown");
		return -EINVAL;
	}
	lie = &lies[cfg->arg];
	if (cfg->object == 0 && (lie->bytes == 8 || cfg->value <= lie->mask))
		return 0;
	if (cfg->object)
		NL_SET_ERR_MSG(extack, "subnet management answers by queue pair 0 alone");
	else
		NL_SET_ERR_MSG(extack, "the value is too large for the field");
	return -EINVAL;
}

int pib_inject_mad_check(const struct pib_inject_cfg *cfg, struct netlink_ext_ack *extack)
{
	if (cfg->kind == PIB_INJECT_KIND_MAD_LIE)
		return check_lie(cfg, extack);
	if (cfg->arg <= 0x7fff)
		return 0;
	NL_SET_ERR_MSG(extack, "the status is too large for a MAD");
	return -EINVAL;
}

static bool is_smp_class(u8 class)
{
	return class == PIB_CLASS_SM_LID || class == PIB_CLASS_SM_DR;
}

/* Return: true if @class is @asked, or @asked is 0. PIB_CLASS_SM_LID means both SMP classes. */
static bool class_fits(u8 asked, u8 class)
{
	if (!asked)
		return true;
	return asked == PIB_CLASS_SM_LID ? is_smp_class(class) : asked == class;
}

/* Return: true if rules of this kind can change the MAD. */
static bool kind_fits(const struct pib_inject_cfg *cfg, const u8 *mad)
{
	switch (cfg->kind) {
	case PIB_INJECT_KIND_MAD_STATUS:
		return mad[PIB_MAD_METHOD] & PIB_METHOD_RESPONSE;
	case PIB_INJECT_KIND_MAD_LIE:
		return is_smp_class(mad[PIB_MAD_CLASS]) &&
		       mad[PIB_MAD_METHOD] == PIB_METHOD_GET_RESP &&
		       pib_get16(mad + PIB_MAD_ATTR) == lies[cfg->arg].attr;
	default:
		return true;
	}
}

static bool asks_for_mads(const struct pib_inject_cfg *cfg)
{
	return cfg->mgmt_class || cfg->mad_attr || cfg->kind == PIB_INJECT_KIND_MAD_STATUS ||
	       cfg->kind == PIB_INJECT_KIND_MAD_LIE;
}

bool pib_inject_mad_wanted(const struct pib_inject_cfg *cfg, struct pib_burst *b)
{
	u8 mad[MAD_HEADER];

	if (!asks_for_mads(cfg))
		return true;
	if (b->len < PIB_MAD_DATA + PIB_SMP_DATA_LEN || pib_burst_read(b, 0, mad, sizeof(mad)))
		return false;
	return class_fits(cfg->mgmt_class, mad[PIB_MAD_CLASS]) &&
	       (!cfg->mad_attr || cfg->mad_attr == pib_get16(mad + PIB_MAD_ATTR)) &&
	       kind_fits(cfg, mad);
}

/* Set the status. The direction bit of a directed-route SMP stays. */
static void change_status(u8 *mad, u16 status)
{
	u16 kept = 0;

	if (mad[PIB_MAD_CLASS] == PIB_CLASS_SM_DR)
		kept = pib_get16(mad + PIB_MAD_STATUS) & PIB_SMP_DIRECTION;
	pib_put16(mad + PIB_MAD_STATUS, status | kept);
}

static void change_field(u8 *mad, const struct mad_lie *lie, u64 value)
{
	u8 *last = mad + PIB_MAD_DATA + lie->at;
	u8 i;

	*last = (*last & ~lie->mask) | (value & lie->mask);
	for (i = 1; i < lie->bytes; i++)
		last[-i] = value >> (8 * i);
}

void pib_inject_mad_change(const struct pib_inject_cfg *cfg, u8 *mad)
{
	if (cfg->kind == PIB_INJECT_KIND_MAD_STATUS)
		change_status(mad, cfg->arg);
	else
		change_field(mad, &lies[cfg->arg], cfg->value);
}
