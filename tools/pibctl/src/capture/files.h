// SPDX-License-Identifier: GPL-2.0
// Destinations of captured packets: standard output, a file, or files that take turns.
#pragma once

#include <cstdint>
#include <string>

#include "host/interruption.h"
#include "model/bytes.h"
#include "model/result.h"

namespace pib::ctl {

struct FilesRequest {
	/// "-": standard output.
	std::string path;
	/// Bytes after which the next file begins; 0: there is one file.
	std::uint64_t size = 0;
	/// Files after which the first is written again; 0: never.
	std::uint32_t count = 0;
};

/// With a size, file i is called path followed by i.
class CaptureFiles {
public:
	/// head: what each file begins with. A pipe whose reader stands still is given up once a signal
	/// has come.
	CaptureFiles(FilesRequest request, Bytes head, const Interruption &interruption);
	~CaptureFiles();
	CaptureFiles(const CaptureFiles &) = delete;
	CaptureFiles &operator=(const CaptureFiles &) = delete;

	Status open();
	/// A block, which is whole in one file.
	Status write(View block);
	/// The same into the present file, and what was not written yet.
	Status finish(View blocks);

private:
	std::string name() const;
	Status next();
	Status flush();
	Status flush_to_reader();
	void close();

	FilesRequest request_;
	Bytes head_;
	const Interruption &interruption_;
	int fd_ = -1;
	bool has_reader_ = false;
	std::uint64_t number_ = 0;
	std::uint64_t written_ = 0;
	Bytes pending_;
};

} // namespace pib::ctl
