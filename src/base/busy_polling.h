/* Busy polling of epoll, as <linux/eventpoll.h> of Linux 6.9 has it, which older systems lack. */
#pragma once
#include <stdint.h>
#include <sys/ioctl.h>

struct busy_polling {
    uint32_t usecs;       /* how long a wait polls before it sleeps */
    uint16_t budget;      /* packets a poll */
    uint8_t is_preferred; /* the card's interrupts stay off meanwhile */
    uint8_t zero;
};

#define BUSY_POLLING_SET _IOW(0x8A, 0x01, struct busy_polling)
