/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Captures as file descriptors. */
#ifndef PIB_CONTROL_CAPTURE_H
#define PIB_CONTROL_CAPTURE_H

#include "fabric/capture.h"

struct netlink_ext_ack;
struct pib_net;

/**
 * struct pib_capture_req - request for a capture
 * @node: name of an HCA or switch
 * @port: one of its ports, 0: all
 * @cfg: configuration
 */
struct pib_capture_req {
	const char *node;
	u32 port;
	struct pib_capture_cfg cfg;
};

/*
 * Begin a capture, which ends when the file is released.
 *
 * Context: process, no locks.
 * Return: the file; ERR_PTR(), with the reason in @extack.
 */
struct file *pib_capture_open(struct pib_net *pn, const struct pib_capture_req *req,
			      struct netlink_ext_ack *extack);

#endif
