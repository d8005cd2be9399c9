// SPDX-License-Identifier: GPL-2.0
/*
 * Whether a queue pair gets the path that the program was told of: the MTU of its own port, and the
 * path record of the connection that librdmacm makes for it (rdma_resolve_route(), or the peer's
 * request). Which record that is rdma_connect() and rdma_accept() say, by the number of the queue
 * pair. One side calls them before it gives the queue pair its path, the other one after that.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include "path.h"
#include "queues.h"

/* Queue pairs that are known at one time; of others nothing is said. */
#define PATHS	256
/* Path records of a connection. */
#define RECORDS	2

/* enum ibv_port_state, IBV_LINK_LAYER_ETHERNET */
enum {
	ARMED = 3,
	ETHERNET = 2,
};

/* The part of struct ibv_port_attr that libibverbs' own function knows. */
struct port_attr {
	int state, max_mtu, active_mtu;
	uint32_t numbers[5];
	uint16_t pkey_tbl_len, lid, sm_lid;
	uint8_t lmc, max_vl_num, sm_sl, subnet_timeout, init_type_reply;
	uint8_t width, speed, phys_state, link_layer, flags;
};

typedef int query_fn(const void *context, uint8_t number, struct port_attr *attr);

/* The beginning of struct ibv_sa_path_rec. */
struct path_record {
	uint64_t dgid[2], sgid[2];
	uint16_t dlid, slid;
	int raw_traffic;
	uint32_t flow_label;
	uint8_t hop_limit, traffic_class;
	int reversible;
	uint8_t numb_path;
	uint16_t pkey;
	uint8_t sl, mtu_selector, mtu, rate_selector, rate;
};

/* The beginning of struct rdma_cm_id. */
struct cm_id {
	void *context, *channel, *user_context;
	struct qp *qp;
	char addresses[2 * 128 + 40];
	struct path_record *records;
	int num_records;
};

struct conn_param {
	const void *private_data;
	uint8_t bytes[7];
	uint32_t qp_num;
};

/* @rate: Mbit/s; @mtu: as enum ibv_mtu has it */
struct path {
	uint16_t dlid;
	uint8_t sl;
	int mtu;
	unsigned int rate;
};

/*
 * Of the queue pair of that device and number; without @device the place is free. librdmacm has
 * opened the device once more for itself.
 */
static struct known_path {
	const void *device;
	uint32_t number;
	int num_told, is_given;
	struct path told[RECORDS], given;
} paths[PATHS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void path_stop(void) { pthread_mutex_lock(&lock); }
void path_go_on(void) { pthread_mutex_unlock(&lock); }

/* Return: whether @port is one of InfiniBand, and can be asked. */
static int ask_port(const void *context, uint8_t number, struct port_attr *port)
{
	query_fn *query = next_function("ibv_query_port");

	return query && !query(context, number, port) && port->link_layer != ETHERNET;
}

static unsigned int port_rate(const struct port_attr *port)
{
	static const unsigned int speeds[] = { 2500, 5000, 10000, 10000, 14000, 25000, 50000,
					       100000 };
	unsigned int lanes = 0, speed = 0, i;

	for (i = 0; i < sizeof(speeds) / sizeof(speeds[0]); i++)
		if (port->speed == 1 << i)
			speed = speeds[i];
	for (i = 0; i < 4; i++)
		if (port->width == 1 << i)
			lanes = i ? 4 * i : 1;
	return speed * (port->width == 1 << 4 ? 2 : lanes);
}

/* As enum ibv_rate has it. Return: Mbit/s; 0: there is no such one. */
static unsigned int rate_of(uint8_t rate)
{
	static const unsigned int rates[] = {
		0, 0, 2500, 10000, 30000, 5000, 20000, 40000, 60000, 80000, 120000, 14000, 56000,
		112000, 168000, 25000, 100000, 200000, 300000, 28000, 50000, 400000, 600000, 800000,
		1200000,
	};

	return rate < sizeof(rates) / sizeof(rates[0]) ? rates[rate] : 0;
}

static const void *device_of(const struct context *context)
{
	return context->device;
}

static struct known_path *known(const void *device, uint32_t number)
{
	size_t i;

	for (i = 0; i < PATHS; i++)
		if (paths[i].device == device && (!device || paths[i].number == number))
			return &paths[i];
	return NULL;
}

/* The same, which may become known now. Return: NULL: there is no room. */
static struct known_path *remembered(const void *device, uint32_t number)
{
	struct known_path *k = known(device, number);

	if (k)
		return k;
	k = known(NULL, 0);
	if (k)
		*k = (struct known_path){ .device = device, .number = number };
	return k;
}

/* The record that leads there, or the first one. */
static const struct path *record_of(const struct known_path *k)
{
	int i;

	for (i = 0; i < k->num_told; i++)
		if (k->told[i].dlid == k->given.dlid)
			return &k->told[i];
	return &k->told[0];
}

static int differs(const char *call, uint32_t number, const char *field, unsigned int given,
		   unsigned int told)
{
	return tell("path-ignored", "%s of queue pair %u: %s %u, and the path record has %u", call,
		    number, field, given, told);
}

static unsigned int bytes_of(int mtu)
{
	return 128u << mtu;
}

/* A smaller MTU and a lower rate are anybody's choice. Return: as tell(). */
static int compare(const char *call, const struct known_path *k)
{
	const struct path *given = &k->given, *told = record_of(k);

	if (!k->num_told || !k->is_given)
		return 0;
	if (given->dlid != told->dlid)
		return differs(call, k->number, "dlid", given->dlid, told->dlid);
	if (given->sl != told->sl)
		return differs(call, k->number, "sl", given->sl, told->sl);
	if (given->mtu > told->mtu)
		return differs(call, k->number, "MTU", bytes_of(given->mtu), bytes_of(told->mtu));
	if (told->rate && given->rate > told->rate)
		return differs(call, k->number, "Mbit/s", given->rate, told->rate);
	return 0;
}

/* Packets that are larger than the link takes are dropped. */
static int check_mtu(const struct qp *qp, int mtu, const struct port_attr *port)
{
	if (port->state < ARMED || mtu <= port->active_mtu)
		return 0;
	return tell("large-mtu", "ibv_modify_qp of queue pair %u: MTU %u, and the port has %u",
		    qp->number, bytes_of(mtu), bytes_of(port->active_mtu));
}

int path_given(const struct qp *qp, const struct qp_attr *attr, unsigned int mask)
{
	struct known_path *k, copy = { 0 };
	struct port_attr port = { 0 };
	int err;

	if (!is_heard() || !(mask & ATTR_AV) || !(mask & ATTR_PATH_MTU) || attr->mtu > 31 ||
	    !ask_port(qp->objects[0], attr->ah.port, &port))
		return 0;
	pthread_mutex_lock(&lock);
	k = remembered(device_of(qp->objects[0]), qp->number);
	if (k) {
		k->is_given = 1;
		k->given = (struct path){
			attr->ah.dlid, attr->ah.sl, attr->mtu,
			attr->ah.rate ? rate_of(attr->ah.rate) : port_rate(&port),
		};
		copy = *k;
	}
	pthread_mutex_unlock(&lock);
	err = check_mtu(qp, attr->mtu, &port);
	return err | compare("ibv_modify_qp", &copy);
}

void path_forgotten(const struct qp *qp)
{
	struct known_path *k;

	pthread_mutex_lock(&lock);
	k = known(device_of(qp->objects[0]), qp->number);
	if (k)
		k->device = NULL;
	pthread_mutex_unlock(&lock);
}

/* Return: as tell(). */
static int told(const char *call, const struct cm_id *id, const struct conn_param *param)
{
	uint32_t number = id->qp ? id->qp->number : param ? param->qp_num : 0;
	struct known_path *k, copy = { 0 };
	int i;

	if (!is_heard() || !number || !id->context || !id->records || id->num_records < 1)
		return 0;
	pthread_mutex_lock(&lock);
	k = remembered(device_of(id->context), number);
	if (k) {
		k->num_told = id->num_records < RECORDS ? id->num_records : RECORDS;
		for (i = 0; i < k->num_told; i++)
			k->told[i] = (struct path){
				ntohs(id->records[i].dlid), id->records[i].sl,
				id->records[i].mtu & 63, rate_of(id->records[i].rate & 63),
			};
		copy = *k;
	}
	pthread_mutex_unlock(&lock);
	return compare(call, &copy);
}

/* As librdmacm's functions fail. */
static int failed(int err)
{
	errno = err;
	return -1;
}

VISIBLE int rdma_connect(struct cm_id *id, struct conn_param *param)
{
	int err = told("rdma_connect", id, param);

	return err ? failed(err) : NEXT(rdma_connect)(id, param);
}

VISIBLE int rdma_accept(struct cm_id *id, struct conn_param *param)
{
	int err = told("rdma_accept", id, param);

	return err ? failed(err) : NEXT(rdma_accept)(id, param);
}
