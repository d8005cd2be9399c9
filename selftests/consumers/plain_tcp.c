// SPDX-License-Identifier: GPL-2.0
/*
 * plain_tcp serve ADDRESS FILE | fetch ADDRESS FILE: a file over a TCP connection, of calls that
 * librspreload takes over: rsocket() knows no SOCK_CLOEXEC, which most programs ask for.
 */
#include <arpa/inet.h>
#include <err.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static char buffer[65536];

static int stream(void)
{
	int s = socket(AF_INET, SOCK_STREAM, 0);

	if (s < 0)
		err(1, "socket");
	return s;
}

static void serve(const struct sockaddr_in *address, FILE *file)
{
	int listener = stream(), s, one = 1;
	size_t n, done;
	ssize_t sent;

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, (const struct sockaddr *)address, sizeof(*address)))
		err(1, "bind");
	if (listen(listener, 1))
		err(1, "listen");
	s = accept(listener, NULL, NULL);
	if (s < 0)
		err(1, "accept");
	while ((n = fread(buffer, 1, sizeof(buffer), file)) > 0) {
		for (done = 0; done < n; done += sent) {
			sent = send(s, buffer + done, n - done, 0);
			if (sent <= 0)
				err(1, "send");
		}
	}
	shutdown(s, SHUT_RDWR);
	close(s);
	close(listener);
}

static void fetch(const struct sockaddr_in *address, FILE *file)
{
	int s = stream();
	ssize_t n;

	if (connect(s, (const struct sockaddr *)address, sizeof(*address)))
		err(1, "connect");
	while ((n = recv(s, buffer, sizeof(buffer), 0)) > 0) {
		if (fwrite(buffer, 1, n, file) != (size_t)n)
			err(1, "write");
	}
	if (n < 0)
		err(1, "recv");
	close(s);
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(8000) };
	int serves;
	FILE *file;

	if (argc != 4 || inet_pton(AF_INET, argv[2], &address.sin_addr) != 1)
		errx(2, "usage: plain_tcp serve|fetch ADDRESS FILE");
	serves = !strcmp(argv[1], "serve");
	file = fopen(argv[3], serves ? "r" : "w");
	if (!file)
		err(1, "%s", argv[3]);
	if (serves)
		serve(&address, file);
	else
		fetch(&address, file);
	if (fclose(file))
		err(1, "%s", argv[3]);
	return 0;
}
