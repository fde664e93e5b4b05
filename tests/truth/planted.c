/* An HTTP server that does one more thing per request, and says at its end how long that took.
 *
 *     planted PORT nothing
 *     planted PORT code US       this long in the function `planted_code`
 *     planted PORT calls COUNT   getppid this often
 *     planted PORT pages COUNT   touches pages that are not mapped yet
 *     planted PORT turns COUNT   a futex is handed to another thread and back
 *     planted PORT bytes COUNT   sends so many more */
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { CLIENTS = 256, PAGE = 4096, HEAD = 128 };

static volatile sig_atomic_t stopped;
static volatile uint64_t sink;
static sem_t there, back;
static char *memory;
static double loops_a_us;

static void stop(int number) {
    (void)number;
    stopped = 1;
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static __attribute__((noinline)) void planted_code(uint64_t loops) {
    while (loops-- > 0) {
        sink++;
    }
}

static void *take_turns(void *unused) {
    for (;;) {
        sem_wait(&there);
        sem_post(&back);
    }
    return unused;
}

static void plant(const char *kind, long amount) {
    if (strcmp(kind, "code") == 0) {
        planted_code((uint64_t)((double)amount * loops_a_us));
    } else if (strcmp(kind, "calls") == 0) {
        for (long at = 0; at < amount; at++) {
            syscall(SYS_getppid);
        }
    } else if (strcmp(kind, "pages") == 0) {
        madvise(memory, (size_t)amount * PAGE, MADV_DONTNEED);
        for (long at = 0; at < amount; at++) {
            ((volatile char *)memory)[at * PAGE] = 1;
        }
    } else if (strcmp(kind, "turns") == 0) {
        for (long at = 0; at < amount; at++) {
            sem_post(&there);
            sem_wait(&back);
        }
    }
}

static void prepare(const char *kind, long amount) {
    memory = mmap(NULL, (size_t)amount * PAGE + PAGE, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(memory, (size_t)amount * PAGE + PAGE, MADV_NOHUGEPAGE);
    pthread_t other;
    sem_init(&there, 0, 0);
    sem_init(&back, 0, 0);
    if (strcmp(kind, "turns") == 0) {
        pthread_create(&other, NULL, take_turns, NULL);
    }
    double best = 0;
    for (int tries = 0; tries < 20; tries++) { /* the fastest: not interrupted */
        int64_t began = now_ns();
        planted_code(1000000);
        double found = 1e9 / (double)(now_ns() - began);
        best = found > best ? found : best;
    }
    loops_a_us = best;
}

int main(int count, char **words) {
    if (count < 3) {
        return EXIT_FAILURE;
    }
    const char *kind = words[2];
    long amount = count > 3 ? atol(words[3]) : 0;
    signal(SIGTERM, stop);
    prepare(kind, amount);

    size_t body = 2 + (strcmp(kind, "bytes") == 0 ? (size_t)amount : 0);
    char *reply = calloc(1, HEAD + body);
    int head = sprintf(reply, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", body);
    memset(reply + head, 'x', body);

    struct pollfd watched[CLIENTS] = {{.events = POLLIN}};
    int used = 1;
    watched[0].fd = socket(AF_INET, SOCK_STREAM, 0);
    int yes = 1;
    setsockopt(watched[0].fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(words[1]))};
    if (bind(watched[0].fd, (void *)&here, sizeof here) != 0) {
        return EXIT_FAILURE;
    }
    listen(watched[0].fd, CLIENTS);

    int64_t planted_ns = 0;
    long requests = 0;
    char request[4096];
    while (!stopped) {
        poll(watched, (nfds_t)used, -1);
        for (int at = used - 1; at > 0; at--) {
            if (watched[at].revents == 0) {
                continue;
            }
            if (recv(watched[at].fd, request, sizeof request, 0) <= 0) {
                close(watched[at].fd);
                watched[at] = watched[--used];
                continue;
            }
            int64_t began = now_ns();
            plant(kind, amount);
            planted_ns += now_ns() - began;
            requests++;
            send(watched[at].fd, reply, (size_t)head + body, MSG_NOSIGNAL);
        }
        if (watched[0].revents != 0 && used < CLIENTS) {
            watched[used++] = (struct pollfd){accept(watched[0].fd, NULL, NULL), POLLIN, 0};
        }
    }
    printf("%.0f ns in each of %ld requests\n", (double)planted_ns / (double)(requests + !requests),
           requests);
    return EXIT_SUCCESS;
}
