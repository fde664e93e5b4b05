#include "unit.h"

#include "service/history/cgroup.h"

#include <string.h>

static void assert_path(const char *text, const char *expected) {
    size_t length = 0;
    const char *path = cgroup_path(text, strlen(text), &length);
    if (expected == NULL) {
        assert_null(path);
        return;
    }
    assert_non_null(path);
    assert_int_equal(length, strlen(expected));
    assert_memory_equal(path, expected, length);
}

static void assert_unit(const char *path, const char *expected) {
    char unit[CGROUP_UNIT_LIMIT];
    size_t length = cgroup_unit(path, strlen(path), unit);
    assert_int_equal(length, strlen(expected));
    assert_memory_equal(unit, expected, length);
}

TEST(the_path_is_that_of_the_hierarchy_that_says_most) {
    assert_path("0::/system.slice/ssh.service\n", "/system.slice/ssh.service");
    assert_path("0::/\n", "/");
    /* Hybrid: systemd keeps its groups in both, controllers in the old ones. */
    assert_path("12:cpu,cpuacct:/a\n1:name=systemd:/user.slice\n0::/user.slice/x.scope\n",
                "/user.slice/x.scope");
    /* Version 1: the kernel shows an empty hierarchy 0, or none. */
    assert_path("12:cpu,cpuacct:/a\n1:name=systemd:/init.scope\n0::/\n", "/init.scope");
    assert_path("12:cpu,cpuacct:/a\n1:name=systemd:/init.scope\n", "/init.scope");
    assert_path("3:cpuset:/\n4:memory:/docker/1f\n1:name=systemd:/\n0::/\n", "/docker/1f");
    assert_path("3:cpuset:/\n1:name=systemd:/\n", "/");
}

TEST(a_path_may_hold_colons_and_the_last_line_may_be_cut) {
    assert_path("0::/a:b:c/d\n", "/a:b:c/d");
    assert_path("0::/a/b", "/a/b");
    assert_path("0::/../other\n", "/../other");
}

TEST(what_is_no_path_is_none) {
    assert_path("", NULL);
    assert_path("\n\n", NULL);
    assert_path("0::\n", NULL);
    assert_path("0:\n", NULL);
    assert_path("0", NULL);
    assert_path("nonsense\n5:x\n", NULL);
}

TEST(the_unit_is_the_last_part_that_is_one) {
    assert_unit("/system.slice/ssh.service", "ssh.service");
    assert_unit("/system.slice/docker.service/sub/deeper", "docker.service");
    assert_unit("/user.slice/user-1000.slice/user@1000.service/app.slice/a.scope", "a.scope");
    assert_unit("/user.slice", "user.slice");
    assert_unit("/init.scope", "init.scope");
    assert_unit("/docker/1f", "");
    assert_unit("/", "");
    assert_unit("", "");
    assert_unit("/.service", "");
    assert_unit("/a.services/b", "");
}

TEST(what_systemd_escaped_is_shown_as_it_was_meant) {
    assert_unit("/system.slice/dev-disk\\x2did.mount", "dev-disk-id.mount");
    assert_unit("/a/run-\\xc3\\xa4.scope", "run-\xc3\xa4.scope");
    assert_unit("/a/_cgroup.x.service", "cgroup.x.service");
    assert_unit("/a/b\\x2.service", "b\\x2.service");
    assert_unit("/a/b\\xzz.service", "b\\xzz.service");
}

TEST(the_longest_names_have_room) {
    char path[400], unit[CGROUP_UNIT_LIMIT];
    memset(path, 'x', sizeof path);
    path[0] = '/';
    memcpy(path + sizeof path - 8, ".service", 8);
    assert_int_equal(cgroup_unit(path, sizeof path, unit), CGROUP_UNIT_LIMIT);
}
