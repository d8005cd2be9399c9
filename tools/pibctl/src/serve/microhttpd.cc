// SPDX-License-Identifier: GPL-2.0
#include "serve/microhttpd.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace pib::ctl {
namespace {

constexpr const char *kLibrary = "libmicrohttpd.so.12";

Microhttpd loaded;
bool is_loaded = false;

template <typename Function>
bool find(void *library, const char *name, Function *&function)
{
	function = reinterpret_cast<Function *>(dlsym(library, name));
	return function != nullptr;
}

bool find_all(void *library, Microhttpd &all)
{
	return find(library, "MHD_add_response_header", all.add_response_header) &&
	       find(library, "MHD_create_response_from_buffer_with_free_callback_cls",
		    all.create_response_from_buffer_with_free_callback_cls) &&
	       find(library, "MHD_destroy_response", all.destroy_response) &&
	       find(library, "MHD_get_connection_info", all.get_connection_info) &&
	       find(library, "MHD_get_daemon_info", all.get_daemon_info) &&
	       find(library, "MHD_get_timeout", all.get_timeout) &&
	       find(library, "MHD_lookup_connection_value", all.lookup_connection_value) &&
	       find(library, "MHD_queue_response", all.queue_response) &&
	       find(library, "MHD_resume_connection", all.resume_connection) &&
	       find(library, "MHD_run", all.run) &&
	       find(library, "MHD_start_daemon", all.start_daemon) &&
	       find(library, "MHD_stop_daemon", all.stop_daemon) &&
	       find(library, "MHD_suspend_connection", all.suspend_connection);
}

} // namespace

Status load_microhttpd()
{
	if (is_loaded)
		return success();
	// Kept to the end of the program.
	void *library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
	if (!library || !find_all(library, loaded))
		return Error{fmt::format("the HTTP server needs libmicrohttpd: {}", dlerror())};
	is_loaded = true;
	return success();
}

const Microhttpd &microhttpd()
{
	return loaded;
}

} // namespace pib::ctl
