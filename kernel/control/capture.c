// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Captures as file descriptors. linux/pib_capture.h describes reads and ioctls.
 *
 * A capture belongs to its file, whoever holds that, and holds neither the namespace nor the HCA or
 * switch. When these go the capture ends, and the file remains for records that were not read yet.
 */
#include <linux/anon_inodes.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/netlink.h>
#include <linux/poll.h>
#include <linux/uaccess.h>
#include "control/capture.h"
#include "control/registry.h"

static bool capture_ended(const struct pib_capture *cap)
{
	/* Pairs with the release in capture_end() of fabric/capture.c. */
	return smp_load_acquire(&cap->ended);
}

/* Read records without waiting. @ended is set to true if no more will come. */
static ssize_t read_records(struct pib_capture *cap, char __user *buf, size_t room, bool *ended)
{
	ssize_t n;

	if (mutex_lock_interruptible(&cap->read_lock))
		return -ERESTARTSYS;
	*ended = capture_ended(cap);
	n = pib_capture_ring_read(&cap->ring, buf, room);
	mutex_unlock(&cap->read_lock);
	return n;
}

static bool capture_readable(const struct pib_capture *cap)
{
	return capture_ended(cap) || pib_capture_ring_readable(&cap->ring);
}

static ssize_t capture_read(struct file *file, char __user *buf, size_t room, loff_t *pos)
{
	struct pib_capture *cap = file->private_data;
	bool ended;
	ssize_t n;

	if (room < PIB_CAPTURE_READ_MIN)
		return -EINVAL;
	for (;;) {
		ended = false;
		n = read_records(cap, buf, room, &ended);
		if (n || ended)
			return n;
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		n = wait_event_interruptible(cap->wait, capture_readable(cap));
		if (n)
			return n;
	}
}

static __poll_t capture_poll(struct file *file, poll_table *table)
{
	struct pib_capture *cap = file->private_data;
	__poll_t mask = 0;

	poll_wait(file, &cap->wait, table);
	/* Pairs with wq_has_sleeper() in fabric/capture.c. */
	smp_mb();
	if (capture_readable(cap))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (capture_ended(cap))
		mask |= EPOLLHUP;
	return mask;
}

static long capture_stats(const struct pib_capture *cap, void __user *arg)
{
	struct pib_capture_stats stats;
	const struct pib_tap *tap;
	u32 i;

	if (copy_from_user(&stats, arg, sizeof(stats)))
		return -EFAULT;
	if (stats.reserved)
		return -EINVAL;
	for (i = 0; i < cap->num_taps; i++) {
		tap = &cap->tap[i];
		if (tap->num != stats.port)
			continue;
		stats.captured = atomic64_read(&tap->captured);
		stats.lost = atomic64_read(&tap->lost);
		return copy_to_user(arg, &stats, sizeof(stats)) ? -EFAULT : 0;
	}
	return -ENOENT;
}

static long capture_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct pib_capture *cap = file->private_data;

	switch (cmd) {
	case PIB_CAPTURE_STOP:
		pib_capture_stop(cap);
		return 0;
	case PIB_CAPTURE_STATS:
		return capture_stats(cap, (void __user *)arg);
	default:
		return -ENOTTY;
	}
}

static int capture_release(struct inode *inode, struct file *file)
{
	pib_capture_destroy(file->private_data);
	return 0;
}

static const struct file_operations capture_fops = {
	.owner = THIS_MODULE,
	.read = capture_read,
	.poll = capture_poll,
	.unlocked_ioctl = capture_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.release = capture_release,
};

/* Find the node of @req. Context: pn->lock held. Return: ERR_PTR() with the reason in @extack. */
static struct pib_node_dev *get_node(struct pib_net *pn, const struct pib_capture_req *req,
				     struct netlink_ext_ack *extack)
{
	struct pib_node_dev *nd = pib_registry_require_node(pn, req->node, extack);

	if (!nd)
		return ERR_PTR(-ENODEV);
	if (req->port > nd->node.num_ports) {
		NL_SET_ERR_MSG(extack, "the HCA or switch has no port of that number");
		return ERR_PTR(-ENODEV);
	}
	return nd;
}

/* Return: number of ports that @req asks for; -errno with the reason in @extack. */
static int count_ports(struct pib_net *pn, const struct pib_capture_req *req,
		       struct netlink_ext_ack *extack)
{
	struct pib_node_dev *nd;
	int n;

	pib_net_lock(pn);
	nd = get_node(pn, req, extack);
	n = IS_ERR(nd) ? PTR_ERR(nd) : req->port ? 1 : nd->node.num_ports;
	pib_net_unlock(pn);
	return n;
}

/* Start capturing at the node of @req, which may be another one of that name by now. */
static int start_capture(struct pib_net *pn, const struct pib_capture_req *req,
			 struct pib_capture *cap, struct netlink_ext_ack *extack)
{
	struct pib_node_dev *nd;
	int err;

	pib_net_lock(pn);
	nd = get_node(pn, req, extack);
	err = PTR_ERR_OR_ZERO(nd);
	if (!err && !req->port && nd->node.num_ports != cap->num_taps) {
		NL_SET_ERR_MSG(extack, "the HCA or switch was replaced meanwhile; try again");
		err = -EAGAIN;
	}
	if (!err)
		pib_capture_start(cap, nd, req->port);
	pib_net_unlock(pn);
	return err;
}

struct file *pib_capture_open(struct pib_net *pn, const struct pib_capture_req *req,
			      struct netlink_ext_ack *extack)
{
	int n = count_ports(pn, req, extack), err;
	struct pib_capture *cap;
	struct file *file;

	if (n < 0)
		return ERR_PTR(n);
	cap = pib_capture_create(&req->cfg, n);
	if (IS_ERR(cap)) {
		NL_SET_ERR_MSG(extack, "out of memory for the capture");
		return ERR_CAST(cap);
	}
	file = anon_inode_getfile("[pib-capture]", &capture_fops, cap, O_RDONLY);
	if (IS_ERR(file)) {
		pib_capture_destroy(cap);
		return file;
	}
	err = start_capture(pn, req, cap, extack);
	if (err) {
		fput(file);
		return ERR_PTR(err);
	}
	return file;
}
