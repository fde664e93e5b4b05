#include "unit.h"

#include "base/shared_memory.h"

#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PIECE = 5000, LARGE = 8 * 1024 * 1024 };

TEST(a_piece_is_whole_pages_of_zeroes) {
    char *piece = shared_memory_map(PIECE);
    assert_non_null(piece);
    assert_int_equal((uintptr_t)piece % (uintptr_t)sysconf(_SC_PAGESIZE), 0);
    for (size_t i = 0; i < PIECE; i++)
        assert_int_equal(piece[i], 0);
    shared_memory_unmap(piece, PIECE);
}

TEST(pieces_are_adjacent) {
    char *first = shared_memory_map(PIECE), *second = shared_memory_map(1);
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    assert_int_equal((uintptr_t)second - (uintptr_t)first, (PIECE + page - 1) / page * page);
    shared_memory_unmap(first, PIECE);
    *second = 1; /* it is still there */
    shared_memory_unmap(second, 1);
}

TEST(pieces_can_exceed_one_area) {
    enum { COUNT = 1000 };
    char *pieces[COUNT];
    for (int i = 0; i < COUNT; i++) {
        pieces[i] = shared_memory_map(PIECE);
        assert_non_null(pieces[i]);
        memset(pieces[i], i, PIECE);
    }
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(pieces[i][0], (char)i);
        assert_int_equal(pieces[i][PIECE - 1], (char)i);
        shared_memory_unmap(pieces[i], PIECE);
    }
}

static void assert_is_shared(size_t bytes) {
    char *piece = shared_memory_map(bytes);
    pid_t pid = fork();
    if (pid == 0) {
        piece[0] = piece[bytes - 1] = 7;
        _exit(0);
    }
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(piece[0], 7);
    assert_int_equal(piece[bytes - 1], 7);
    shared_memory_unmap(piece, bytes);
}

TEST(writes_of_a_forked_process_are_visible) {
    assert_is_shared(PIECE);
    assert_is_shared(LARGE);
}
