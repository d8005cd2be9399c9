// SPDX-License-Identifier: GPL-2.0
// One way to print: lists of items with fields. Text and JSON stand behind it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

namespace pib::inline model {

using Value = std::variant<std::string, std::uint64_t, double, bool>;

class Output {
public:
	virtual ~Output() = default;

	// Lists hold items, items hold fields, groups and further lists.
	virtual void begin_list(std::string_view key) = 0;
	virtual void end_list() = 0;
	/// heading: what text starts the item with; JSON tells items apart by their fields.
	virtual void begin_item(std::string_view heading) = 0;
	/// An item that text leaves out, with all that is in it.
	virtual void begin_hidden_item() = 0;
	virtual void end_item() = 0;
	/// Fields of one item that belong together: an object in JSON, a column in text.
	virtual void begin_group(std::string_view key) = 0;
	virtual void end_group() = 0;

	virtual void field(std::string_view key, const Value &value) = 0;
	/// For what reads better in text than as a value.
	virtual void field(std::string_view key, const Value &value, std::string_view text) = 0;
	/// For what the heading says already: JSON only.
	virtual void key_field(std::string_view key, const Value &value) = 0;
	/// A good place for text to start a new line, if more follows.
	virtual void line_break() = 0;
	/// A line of text between items, about what was left out.
	virtual void remark(std::string_view text) = 0;

	/// Everything printed so far, once all lists are ended.
	virtual std::string str() const = 0;
};

/// Text that others have chosen, hosts or processes, without what steers a terminal.
std::string printable(std::string_view text);

std::unique_ptr<Output> make_text_output();
std::unique_ptr<Output> make_json_output(bool pretty);

} // namespace pib::inline model
