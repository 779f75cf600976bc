#!/usr/bin/env bats
# Like faults.bats, with a device: calls of the fake device, of CUDA, and of the host
# meanwhile.

load helpers

@test "a device made for tests that fails, once and from then on" { check_faults device; }

# bats test_tags=gpu
@test "a call of CUDA that fails, once and from then on" {
    skip_without_gpu
    check_faults cuda
}

# bats test_tags=gpu
@test "a call that fails while a GPU works" {
    skip_without_gpu
    check_faults cuda_host
}
