// SPDX-License-Identifier: GPL-2.0
#include <nlohmann/json.hpp>

#include <vector>

#include "model/show/output.h"

namespace pib::inline model {
namespace {

using Json = nlohmann::ordered_json;

class JsonOutput final : public Output {
public:
	explicit JsonOutput(bool pretty) : pretty_(pretty) {}

	void begin_list(std::string_view key) override { open(key, Json::array()); }
	void end_list() override { open_.pop_back(); }

	void begin_item(std::string_view) override
	{
		open_.back()->push_back(Json::object());
		open_.push_back(&open_.back()->back());
	}
	void begin_hidden_item() override { begin_item({}); }
	void end_item() override { open_.pop_back(); }

	void begin_group(std::string_view key) override { open(key, Json::object()); }
	void end_group() override { open_.pop_back(); }

	void field(std::string_view key, const Value &value) override
	{
		std::visit([&](const auto &held) { (*open_.back())[std::string(key)] = held; },
			   value);
	}
	void field(std::string_view key, const Value &value, std::string_view) override
	{
		field(key, value);
	}
	void key_field(std::string_view key, const Value &value) override { field(key, value); }
	void line_break() override {}
	void remark(std::string_view) override {}

	std::string str() const override
	{
		// Names that come from others need not be UTF-8, nor fit for a terminal.
		return root_.dump(pretty_ ? 4 : -1, ' ', true, Json::error_handler_t::replace) +
		       "\n";
	}

private:
	/// Nothing is added to a container while one inside it is open, so pointers stay valid.
	void open(std::string_view key, Json empty)
	{
		Json &slot = (*open_.back())[std::string(key)];
		slot = std::move(empty);
		open_.push_back(&slot);
	}

	bool pretty_;
	Json root_ = Json::object();
	std::vector<Json *> open_{&root_};
};

} // namespace

std::unique_ptr<Output> make_json_output(bool pretty)
{
	return std::make_unique<JsonOutput>(pretty);
}

} // namespace pib::inline model
