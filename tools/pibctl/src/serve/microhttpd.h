// SPDX-License-Identifier: GPL-2.0
// libmicrohttpd, which only "pibctl serve" loads. It brings nine libraries with it, gnutls among
// them: linked, these would take more than half of the time in which any command of pibctl begins.
#pragma once

#include <microhttpd.h>

#include "model/result.h"

namespace pib::ctl {

/// The functions of the library that are used, by their names there behind MHD_.
struct Microhttpd {
	decltype(&MHD_add_response_header) add_response_header;
	decltype(&MHD_create_response_from_buffer_with_free_callback_cls)
		create_response_from_buffer_with_free_callback_cls;
	decltype(&MHD_destroy_response) destroy_response;
	decltype(&MHD_get_connection_info) get_connection_info;
	decltype(&MHD_get_daemon_info) get_daemon_info;
	decltype(&MHD_get_timeout) get_timeout;
	decltype(&MHD_lookup_connection_value) lookup_connection_value;
	decltype(&MHD_queue_response) queue_response;
	decltype(&MHD_resume_connection) resume_connection;
	decltype(&MHD_run) run;
	decltype(&MHD_start_daemon) start_daemon;
	decltype(&MHD_stop_daemon) stop_daemon;
	decltype(&MHD_suspend_connection) suspend_connection;
};

/// To be called, and to succeed, before microhttpd() is. Not by two threads at a time.
Status load_microhttpd();
const Microhttpd &microhttpd();

} // namespace pib::ctl
