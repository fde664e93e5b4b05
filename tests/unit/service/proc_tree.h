/* A tree that looks like /proc, with content that a real one cannot have on demand. */
#pragma once
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static char root[] = "/tmp/regatta-proc-XXXXXX";

static void write_at(const char *directory, const char *name, const char *text) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, directory);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/%s/%s", root, directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void add_process(const char *pid, const char *name, int user_ticks) {
    char text[512];
    snprintf(text, sizeof text, "%s (%s) S 1 1 1 0 -1 0 0 0 0 0 %d 0 0 0 20 0 1 0 5 0 0\n", pid,
             name, user_ticks);
    write_at(pid, "stat", text);
}

static int make_tree(void **state) {
    (void)state;
    assert_non_null(mkdtemp(root));
    add_process("1", "init", 10);
    add_process("20", "a) R 1 (b", 30);
    add_process("300", "two\nlines", 20);
    write_at("41", "status", "no stat: as of a process that vanished");
    write_at("42", "stat", "");                 /* a read that found it gone */
    write_at("43", "stat", "43 (cut) S 1 1 1"); /* what no kernel writes */
    write_at("self", "stat", "1 (self) S 1 1 1 0 -1 0 0 0 0 0 99 0 0 0 20 0 1 0 5 0 0\n");
    write_at("12x", "stat", "12 (x) S 1 1 1 0 -1 0 0 0 0 0 99 0 0 0 20 0 1 0 5 0 0\n");
    return 0;
}

static int remove_tree(void **state) {
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", root);
    return system(command);
}
