// SPDX-License-Identifier: GPL-2.0
#include "host/symbols.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

namespace pib::ctl {
namespace {

/// More than any table of a program has.
constexpr std::uint64_t kMostBytes = 1 << 28;

/// A file of which nothing is believed: what does not fit into it is empty.
class ElfFile {
public:
	explicit ElfFile(const std::string &path) : stream_(path, std::ios::binary | std::ios::ate)
	{
		if (stream_)
			size_ = static_cast<std::uint64_t>(stream_.tellg());
		const auto headers = read<Elf64_Ehdr>(0, 1);
		if (headers.empty() || std::memcmp(headers[0].e_ident, ELFMAG, SELFMAG) != 0 ||
		    headers[0].e_ident[EI_CLASS] != ELFCLASS64 ||
		    headers[0].e_shentsize != sizeof(Elf64_Shdr))
			return;
		sections_ = read<Elf64_Shdr>(headers[0].e_shoff, headers[0].e_shnum);
	}

	/// Of the first function in the table of this type. A program has one.
	std::string function(std::uint32_t type, std::uint64_t offset)
	{
		for (const Elf64_Shdr &section : sections_) {
			if (section.sh_type != type)
				continue;
			if (section.sh_link >= sections_.size())
				return {};
			for (const Elf64_Sym &symbol : read<Elf64_Sym>(
				     section.sh_offset, section.sh_size / sizeof(Elf64_Sym)))
				if (is_in(symbol, offset))
					return name(sections_[section.sh_link], symbol.st_name);
			return {};
		}
		return {};
	}

private:
	template <typename T>
	std::vector<T> read(std::uint64_t at, std::uint64_t count)
	{
		if (at > size_ || count > std::min(size_ - at, kMostBytes) / sizeof(T))
			return {};
		std::vector<T> items(count);
		stream_.seekg(static_cast<std::streamoff>(at));
		stream_.read(reinterpret_cast<char *>(items.data()),
			     static_cast<std::streamsize>(count * sizeof(T)));
		return stream_ ? items : std::vector<T>();
	}

	static bool is_in(const Elf64_Sym &symbol, std::uint64_t offset)
	{
		return ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF &&
		       offset >= symbol.st_value && offset - symbol.st_value < symbol.st_size;
	}

	std::string name(const Elf64_Shdr &strings, std::uint32_t at)
	{
		const auto text = read<char>(strings.sh_offset, strings.sh_size);
		if (at >= text.size())
			return {};
		const std::string_view rest(text.data() + at, text.size() - at);
		return std::string(rest.substr(0, rest.find('\0')));
	}

	std::ifstream stream_;
	std::uint64_t size_ = 0;
	std::vector<Elf64_Shdr> sections_;
};

} // namespace

std::string function_at(const std::string &file, std::uint64_t offset)
{
	/// The watched program has named it: a pipe would not end, and a device may do anything.
	std::error_code error;
	if (!file.starts_with('/') || !std::filesystem::is_regular_file(file, error))
		return {};
	ElfFile elf(file);
	auto name = elf.function(SHT_SYMTAB, offset);
	return name.empty() ? elf.function(SHT_DYNSYM, offset) : name;
}

} // namespace pib::ctl
