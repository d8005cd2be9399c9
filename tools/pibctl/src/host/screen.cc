// SPDX-License-Identifier: GPL-2.0
#include "host/screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>

namespace pib::ctl {
namespace {

// Another page of the terminal, without a cursor, and back.
constexpr std::string_view kEnter = "\033[?1049h\033[?25l";
constexpr std::string_view kLeave = "\033[?25h\033[?1049l";

void write_all(std::string_view text)
{
	while (!text.empty()) {
		const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return;
		text.remove_prefix(static_cast<std::size_t>(written));
	}
}

} // namespace

bool Screen::possible()
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

Screen::Screen()
{
	tcgetattr(STDIN_FILENO, &before_);
	termios raw = before_;
	raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	// Stopped, it would leave the page as it is.
	raw.c_cc[VSUSP] = _POSIX_VDISABLE;
	// Killed, too.
	raw.c_cc[VQUIT] = _POSIX_VDISABLE;
	tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
	write_all(kEnter);
}

Screen::~Screen()
{
	write_all(kLeave);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
}

std::pair<std::size_t, std::size_t> Screen::size() const
{
	winsize window{};
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) < 0 || !window.ws_col || !window.ws_row)
		return {80, 24};
	return {window.ws_col, window.ws_row};
}

void Screen::draw(const std::vector<std::string> &lines)
{
	write_all(screen_text(lines));
}

std::optional<char> Screen::key(int milliseconds, const Interruption &interruption) const
{
	constexpr char kQuit = 'q';
	constexpr char kControlBackslash = 0x1C;
	pollfd input{STDIN_FILENO, POLLIN, 0};
	if (interruption.poll(&input, 1, milliseconds) <= 0)
		return std::nullopt;
	char key;
	if (read(STDIN_FILENO, &key, 1) != 1 || key == kControlBackslash)
		return kQuit;
	return key;
}

std::string screen_text(const std::vector<std::string> &lines)
{
	// A line that fills the window leaves the cursor on its last character: nothing is erased behind it.
	std::string text = "\033[H";
	for (const std::string &line : lines)
		text += "\033[K" + line + "\r\n";
	return text + "\033[J";
}

} // namespace pib::ctl
