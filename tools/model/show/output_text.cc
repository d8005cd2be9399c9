// SPDX-License-Identifier: GPL-2.0
#include <fmt/format.h>

#include <vector>

#include "model/show/output.h"

namespace pib::inline model {
std::string printable(std::string_view text)
{
	std::string safe;
	for (const char c : text) {
		const auto byte = static_cast<unsigned char>(c);
		if (byte < 0x20 || byte >= 0x7f)
			safe += fmt::format("\\x{:02x}", byte);
		else
			safe += c;
	}
	return safe;
}

namespace {

/// Quotes a word. Its own quotes and backslashes get a backslash, so that it does not end early.
std::string in_quotes(std::string_view text)
{
	std::string inner;
	for (const char c : text) {
		if (c == '"' || c == '\\')
			inner += '\\';
		inner += c;
	}
	return fmt::format("\"{}\"", printable(inner));
}

/// Quotes a word if need be. One that begins with '[' is quoted: brackets are the tools' own.
std::string word(const std::string &text)
{
	const bool plain =
		!text.empty() && text.front() != '[' && text.find_first_of(" \"\\") == text.npos;
	return plain ? printable(text) : in_quotes(text);
}

struct Formatter {
	std::string operator()(const std::string &text) const { return word(text); }
	std::string operator()(std::uint64_t number) const { return fmt::format("{}", number); }
	std::string operator()(double number) const { return fmt::format("{:g}", number); }
	std::string operator()(bool truth) const { return truth ? "yes" : "no"; }
};

class TextOutput final : public Output {
public:
	void begin_list(std::string_view) override { ++depth_; }
	void end_list() override { --depth_; }

	void begin_item(std::string_view heading) override
	{
		start_line();
		text_ += printable(heading);
	}
	void begin_hidden_item() override { hidden_ = true; }
	void end_item() override
	{
		if (!hidden_ && !at_line_start())
			text_ += '\n';
		hidden_ = false;
		breaks_ = false;
	}

	void begin_group(std::string_view) override { ++groups_; }
	void end_group() override { --groups_; }

	void field(std::string_view key, const Value &value) override
	{
		field(key, value, std::visit(Formatter{}, value));
	}

	void field(std::string_view key, const Value &, std::string_view text) override
	{
		if (hidden_)
			return;
		if (groups_) {
			start_line();
			text_ += fmt::format("    {:<34} {}", key, text);
			return;
		}
		if (breaks_)
			continue_line();
		text_ += fmt::format(" {} {}", key, text);
	}

	void key_field(std::string_view, const Value &) override {}

	void line_break() override { breaks_ = true; }

	void remark(std::string_view text) override
	{
		start_line();
		text_ += fmt::format("{}\n", text);
	}

	std::string str() const override { return text_; }

private:
	bool at_line_start() const { return text_.empty() || text_.back() == '\n'; }

	void start_line()
	{
		if (!at_line_start())
			text_ += '\n';
		text_.append(2 * static_cast<std::size_t>(depth_ > 1 ? depth_ - 1 : 0), ' ');
	}

	void continue_line()
	{
		start_line();
		text_ += "   ";
		breaks_ = false;
	}

	std::string text_;
	int depth_ = 0;
	int groups_ = 0;
	/// Within an item that is left out; nothing is nested in such.
	bool hidden_ = false;
	/// A line break is due before the next field.
	bool breaks_ = false;
};

} // namespace

std::unique_ptr<Output> make_text_output()
{
	return std::make_unique<TextOutput>();
}

} // namespace pib::inline model
