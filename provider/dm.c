// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Device memory, which is the kernel's and mapped for the copies. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <infiniband/cmd_ioctl.h>

#include "dm.h"
#include "pib-abi.h"

/*
 * Offsets and lengths are multiples of this, as with other HCAs. rdma-core's test_dm_write_bad_flow
 * demands that others are refused.
 */
#define DM_ALIGN	4

/**
 * struct pib_dm - a piece of device memory
 * @vdm: the part that the application sees
 * @map: its bytes
 * @size: bytes mapped
 * @length: bytes of device memory
 */
struct pib_dm {
	struct verbs_dm vdm;
	uint8_t *map;
	size_t size;
	uint64_t length;
};

static struct pib_dm *to_pdm(struct ibv_dm *ibdm)
{
	return container_of(ibdm, struct pib_dm, vdm.dm);
}

static bool dm_range_ok(const struct pib_dm *dm, uint64_t offset,
			size_t length)
{
	return !(offset % DM_ALIGN) && !(length % DM_ALIGN) &&
	       length <= dm->length && offset <= dm->length - length;
}

static int memcpy_to_dm(struct ibv_dm *ibdm, uint64_t offset, const void *src,
			size_t length)
{
	struct pib_dm *dm = to_pdm(ibdm);

	if (!dm_range_ok(dm, offset, length))
		return EINVAL;
	memcpy(dm->map + offset, src, length);
	return 0;
}

static int memcpy_from_dm(void *dst, struct ibv_dm *ibdm, uint64_t offset,
			  size_t length)
{
	struct pib_dm *dm = to_pdm(ibdm);

	if (!dm_range_ok(dm, offset, length))
		return EINVAL;
	memcpy(dst, dm->map + offset, length);
	return 0;
}

/* Return: 0, or -1 with errno. */
static int dm_map(struct pib_dm *dm, struct ibv_context *context,
		  const struct pib_dm_resp *resp)
{
	void *map;

	if (!resp->size || resp->length > resp->size) {
		errno = EPROTO;
		return -1;
	}
	map = mmap(NULL, resp->size, PROT_READ | PROT_WRITE, MAP_SHARED,
		   context->cmd_fd, (off_t)resp->offset);
	if (map == MAP_FAILED)
		return -1;

	dm->map = map;
	dm->size = resp->size;
	dm->length = resp->length;
	dm->vdm.dm.context = context;
	dm->vdm.dm.memcpy_to_dm = memcpy_to_dm;
	dm->vdm.dm.memcpy_from_dm = memcpy_from_dm;
	return 0;
}

struct ibv_dm *pib_alloc_dm(struct ibv_context *context,
			    struct ibv_alloc_dm_attr *attr)
{
	DECLARE_COMMAND_BUFFER(link, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC,
			       1);
	struct pib_dm_resp resp = {};
	struct pib_dm *dm;

	if (attr->comp_mask) {
		errno = EINVAL;
		return NULL;
	}
	dm = calloc(1, sizeof(*dm));
	if (!dm)
		return NULL;

	fill_attr_out_ptr(link, PIB_ATTR_ALLOC_DM_RESP, &resp);
	if (ibv_cmd_alloc_dm(context, attr, &dm->vdm, link))
		goto err_free;
	if (dm_map(dm, context, &resp))
		goto err_cmd;
	return &dm->vdm.dm;

err_cmd:
	ibv_cmd_free_dm(&dm->vdm);
err_free:
	free(dm);
	return NULL;
}

int pib_free_dm(struct ibv_dm *ibdm)
{
	struct pib_dm *dm = to_pdm(ibdm);
	int err = ibv_cmd_free_dm(&dm->vdm);

	if (err)
		return err;
	pib_unimport_dm(ibdm);
	return 0;
}

struct ibv_dm *pib_import_dm(struct ibv_context *context, uint32_t handle)
{
	DECLARE_COMMAND_BUFFER(cmd, UVERBS_OBJECT_DM, PIB_METHOD_DM_QUERY, 2);
	struct pib_dm_resp resp = {};
	struct pib_dm *dm;

	dm = calloc(1, sizeof(*dm));
	if (!dm)
		return NULL;

	fill_attr_in_obj(cmd, PIB_ATTR_QUERY_DM_HANDLE, handle);
	fill_attr_out_ptr(cmd, PIB_ATTR_QUERY_DM_RESP, &resp);
	if (execute_ioctl(context, cmd) || dm_map(dm, context, &resp)) {
		free(dm);
		return NULL;
	}
	dm->vdm.handle = handle;
	dm->vdm.dm.handle = handle;
	return &dm->vdm.dm;
}

void pib_unimport_dm(struct ibv_dm *ibdm)
{
	struct pib_dm *dm = to_pdm(ibdm);

	munmap(dm->map, dm->size);
	free(dm);
}

struct ibv_mr *pib_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *ibdm,
			     uint64_t offset, size_t length,
			     unsigned int access)
{
	struct verbs_mr *vmr = calloc(1, sizeof(*vmr));

	if (!vmr)
		return NULL;
	if (ibv_cmd_reg_dm_mr(pd, &to_pdm(ibdm)->vdm, offset, length, access,
			      vmr, NULL)) {
		free(vmr);
		return NULL;
	}
	return &vmr->ibv_mr;
}
