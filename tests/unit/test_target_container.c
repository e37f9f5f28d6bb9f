/* test_target_container.c - containers by their control groups. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "target/container.h"

#define ID "3f4c8e0d9a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5"
#define OTHER "aaaaaaaaaaaabbbbbbbbbbbbccccccccccccddddddddddddeeeeeeeeeeeeffff"

static void expect(const char *cgroup, const char *name, const char *runtime)
{
	struct ray_container c;

	assert_true(ray_container_parse(cgroup, &c));
	assert_string_equal(c.name, name);
	assert_string_equal(c.runtime, runtime);
}

static void runtimes_of_cgroup_2(void **state)
{
	(void)state;
	expect("0::/system.slice/docker-" ID ".scope\n", "3f4c8e0d9a1b", "docker");
	expect("0::/docker/" ID "\n", "3f4c8e0d9a1b", "docker");
	expect("0::/docker/" ID "/init.scope\n", "3f4c8e0d9a1b", "docker");
	expect("0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1a2b.slice/cri-containerd-" ID
	       ".scope\n",
	       "3f4c8e0d9a1b", "containerd");
	expect("0::/kubepods.slice/kubepods-pod1.slice/crio-" ID ".scope/container", "3f4c8e0d9a1b", "cri-o");
	expect("0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope/container\n",
	       "3f4c8e0d9a1b", "podman");
	expect("0::/kubepods/besteffort/pod11111111-2222-3333-4444-555555555555/" ID, "3f4c8e0d9a1b", "kubernetes");
}

static void runtimes_of_cgroup_1(void **state)
{
	(void)state;
	expect("12:pids:/docker/" ID "\n11:memory:/docker/" ID "\n0::/system.slice/containerd.service\n",
	       "3f4c8e0d9a1b", "docker");
	expect("3:cpu:/\n2:name=systemd:/kubepods/burstable/pod1/" ID "\n", "3f4c8e0d9a1b", "kubernetes");
	expect("2:memory:/system.slice/containerd.service/kubepods-pod1.slice:cri-containerd:" ID "\n", "3f4c8e0d9a1b",
	       "containerd");
	expect("5:memory:/ecs/0123456789abcdef0123456789abcdef/0123456789abcdef0123456789abcdef-1234567890\n",
	       "0123456789ab", "ecs");
}

static void the_innermost_of_nested_containers(void **state)
{
	(void)state;
	expect("0::/docker/" OTHER "/docker/" ID "\n", "3f4c8e0d9a1b", "docker");
}

static void containers_with_names(void **state)
{
	(void)state;
	expect("0::/lxc.payload.web1/system.slice/app.service\n", "web1", "lxc");
	expect("4:memory:/lxc/web2\n", "web2", "lxc");
	expect("0::/machine.slice/systemd-nspawn@build.service/payload\n", "build", "nspawn");
	expect("0::/machine.slice/machine-old.scope\n", "old", "nspawn");
}

static void what_is_no_container(void **state)
{
	struct ray_container c;
	static const char *const texts[] = {
		"",
		"\n",
		"0::/\n",
		"0::/user.slice/user-0.slice/session-1.scope\n",
		"nonsense",
		"1:",
		"::",
		"0::/app-" ID "0.scope\n", /* 65 digits */
		"0::/xyz" ID "\n",
		"0::/lxc/\n",
		"0::/machine.slice/machine-.scope\n",
		"0::/x/0123456789abcdef0123456789abcdef\n",
	};
	(void)state;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_false(ray_container_parse(texts[i], &c));
}

static void long_names_are_cut_not_overrun(void **state)
{
	struct ray_container c;
	(void)state;

	assert_true(ray_container_parse("0::/lxc/"
					"n" ID ID "\n",
					&c));
	assert_int_equal(strlen(c.name), 32);
	assert_int_equal(strlen(c.id), 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runtimes_of_cgroup_2),
		cmocka_unit_test(runtimes_of_cgroup_1),
		cmocka_unit_test(the_innermost_of_nested_containers),
		cmocka_unit_test(containers_with_names),
		cmocka_unit_test(what_is_no_container),
		cmocka_unit_test(long_names_are_cut_not_overrun),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
