// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Links, which users give by the names of their ends. */
#include <linux/netlink.h>
#include "fabric/cable.h"
#include "control/registry.h"
#include "hca/hca.h"
#include "control/links.h"
#include "udp/link.h"

static struct pib_kport *find_end(struct pib_net *pn, const struct pib_end *end,
				  struct netlink_ext_ack *extack)
{
	struct pib_node_dev *nd = pib_registry_require_node(pn, end->node, extack);

	if (!nd)
		return NULL;
	if (!end->port || end->port > nd->node.num_ports) {
		NL_SET_ERR_MSG(extack, "the HCA or switch has no port of that number");
		return NULL;
	}
	return nd->ports[end->port];
}

static bool port_is_free(const struct pib_kport *port, struct netlink_ext_ack *extack)
{
	if (!pib_kport_has_cable(port))
		return true;
	NL_SET_ERR_MSG(extack, "the port has a cable already");
	return false;
}

int pib_links_add_cable(struct pib_net *pn, const struct pib_end *a, const struct pib_end *b,
			struct netlink_ext_ack *extack)
{
	struct pib_kport *pa, *pb;
	int err = -ENODEV;

	pib_net_lock(pn);
	pa = find_end(pn, a, extack);
	pb = pa ? find_end(pn, b, extack) : NULL;
	if (!pb)
		goto out_unlock;
	err = -EINVAL;
	if (pa == pb) {
		NL_SET_ERR_MSG(extack, "both ends of the cable are the same port");
		goto out_unlock;
	}
	if (pa->nd->standalone || pb->nd->standalone) {
		NL_SET_ERR_MSG(extack,
			       "a standalone HCA or its host switch takes no further cables");
		goto out_unlock;
	}
	err = -EBUSY;
	if (!port_is_free(pa, extack) || !port_is_free(pb, extack))
		goto out_unlock;
	pa->is_auto = false;
	pb->is_auto = false;
	pib_cable_plug(pn, pa, pb);
	err = 0;

out_unlock:
	pib_net_unlock(pn);
	return err;
}

int pib_links_add_udp(struct pib_net *pn, const struct pib_end *a,
		      const struct pib_bearer_cfg *cfg, const struct pib_addr *peer,
		      struct netlink_ext_ack *extack)
{
	struct pib_bearer *bearer;
	struct pib_kport *port;
	struct pib_udp_link *link;
	int err;

	pib_net_lock(pn);
	err = pib_registry_check_alive(pn, extack);
	if (err)
		goto out_unlock;
	err = -ENODEV;
	port = find_end(pn, a, extack);
	if (!port)
		goto out_unlock;
	err = -EBUSY;
	if (!port_is_free(port, extack))
		goto out_unlock;
	bearer = pib_bearer_get(pn, cfg, true, extack);
	err = PTR_ERR_OR_ZERO(bearer);
	if (err)
		goto out_unlock;
	port->is_auto = false;
	link = pib_udp_link_create(bearer, port, PIB_UDP_LINK_EXPLICIT, peer, NULL, NULL);
	err = PTR_ERR_OR_ZERO(link);
	if (err) {
		NL_SET_ERR_MSG(extack, "out of memory for the link");
		pib_bearer_put(bearer);
		goto out_unlock;
	}
	link->holds_bearer = true;

out_unlock:
	pib_net_unlock(pn);
	return err;
}

/* As find_end(), for a port that must have a cable. Return: NULL: the error is in @err. */
static struct pib_kport *find_cabled(struct pib_net *pn, const struct pib_end *a,
				     struct netlink_ext_ack *extack, int *err)
{
	struct pib_kport *port = find_end(pn, a, extack);

	if (!port) {
		*err = -ENODEV;
		return NULL;
	}
	if (!pib_kport_has_cable(port)) {
		NL_SET_ERR_MSG(extack, "the port has no cable");
		*err = -ENOTCONN;
		return NULL;
	}
	return port;
}

int pib_links_del(struct pib_net *pn, const struct pib_end *a,
		  struct netlink_ext_ack *extack)
{
	struct pib_kport *port;
	LIST_HEAD(dead);
	int err;

	pib_net_lock(pn);
	port = find_cabled(pn, a, extack, &err);
	if (!port)
		goto out_unlock;
	err = -EBUSY;
	if (port->nd->standalone) {
		NL_SET_ERR_MSG(extack, "a standalone HCA keeps its cable");
		goto out_unlock;
	}
	pib_cable_pull(pn, port, &dead);
	pib_udp_link_free(&dead);
	err = 0;

out_unlock:
	pib_net_unlock(pn);
	return err;
}

/* ---- links that change ---- */

/* Widths of PortInfo, each with the mask of it and all narrower ones. */
static const struct {
	u8 width;
	u8 sup;
} widths[] = {
	{ 0x01, 0x01 },		/* 1X */
	{ 0x10, 0x11 },		/* 2X */
	{ 0x02, 0x13 },		/* 4X */
	{ 0x04, 0x17 },		/* 8X */
	{ 0x08, 0x1F },		/* 12X */
};

static const struct {
	u16 speed;
	u8 sup;
	u8 ext_sup;
} speeds[] = {
	{ 1, 0x1, 0x00 },	/* SDR */
	{ 2, 0x3, 0x00 },	/* DDR */
	{ 4, 0x7, 0x00 },	/* QDR */
	{ 16, 0x7, 0x01 },	/* FDR */
	{ 32, 0x7, 0x03 },	/* EDR */
	{ 64, 0x7, 0x07 },	/* HDR */
	{ 128, 0x7, 0x0F },	/* NDR */
	{ 256, 0x7, 0x1F },	/* XDR */
};

/**
 * struct caps - capabilities of transceivers, as in PortInfo
 * @width: LinkWidthSupported
 * @speed: LinkSpeedSupported
 * @ext_speed: as struct pib_port.ext_speed_sup
 */
struct caps {
	u8 width;
	u8 speed;
	u8 ext_speed;
};

static int caps_width(struct caps *c, u8 width, struct netlink_ext_ack *extack)
{
	unsigned int i;

	for (i = 0; width && i < ARRAY_SIZE(widths); i++)
		if (widths[i].width == width)
			break;
	if (i == ARRAY_SIZE(widths)) {
		NL_SET_ERR_MSG(extack, "the link width is unknown");
		return -EINVAL;
	}
	if (width)
		c->width = widths[i].sup;
	return 0;
}

static int caps_speed(struct caps *c, u16 speed, struct netlink_ext_ack *extack)
{
	unsigned int i;

	for (i = 0; speed && i < ARRAY_SIZE(speeds); i++)
		if (speeds[i].speed == speed)
			break;
	if (i == ARRAY_SIZE(speeds)) {
		NL_SET_ERR_MSG(extack, "the link speed is unknown");
		return -EINVAL;
	}
	if (speed) {
		c->speed = speeds[i].sup;
		c->ext_speed = speeds[i].ext_sup;
	}
	return 0;
}

static int set_caps(struct pib_net *pn, struct pib_kport *port, const struct pib_link_req *req,
		    struct netlink_ext_ack *extack)
{
	struct caps c = { port->p.width_sup, port->p.speed_sup, port->p.ext_speed_sup };
	int err;

	if (!req->width && !req->speed)
		return 0;
	err = caps_width(&c, req->width, extack) ?: caps_speed(&c, req->speed, extack);
	if (!err)
		pib_cable_set_caps(pn, port, c.width, c.speed, c.ext_speed);
	return err;
}

static int link_change(struct pib_net *pn, struct pib_kport *port, const struct pib_link_req *req,
		       struct netlink_ext_ack *extack)
{
	int err;

	if (req->faults.cfg.buffer && !rcu_access_pointer(port->peer)) {
		NL_SET_ERR_MSG(extack, "only a cable inside this kernel has buffers and credits");
		return -EOPNOTSUPP;
	}
	err = set_caps(pn, port, req, extack);
	if (err)
		return err;
	if (req->faults.given || req->faults.anew) {
		err = pib_impair_set(pn, port, &req->faults);
		if (err) {
			NL_SET_ERR_MSG(extack, "out of memory for the faults");
			return err;
		}
	}
	if (!req->plug)
		return 0;
	pib_impair_stop_flap(port);
	mutex_lock(&pn->link_lock);
	pib_cable_set_plugged(pn, port, req->plugged);
	mutex_unlock(&pn->link_lock);
	return 0;
}

int pib_links_set(struct pib_net *pn, const struct pib_end *a, const struct pib_link_req *req,
		  struct netlink_ext_ack *extack)
{
	struct pib_kport *port;
	int err;

	pib_net_lock(pn);
	port = find_cabled(pn, a, extack, &err);
	if (!port)
		goto out_unlock;
	err = link_change(pn, port, req, extack);
	pn->changes++;

out_unlock:
	pib_net_unlock(pn);
	return err;
}
