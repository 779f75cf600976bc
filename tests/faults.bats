#!/usr/bin/env bats
# Every call that can fail is let fail once, and from then on: each time the result is right, or
# there is one clear line, status 1, no result, no half-written file, no hang, and no leak where the
# build has AddressSanitizer. It takes a build configured with --enable-faults.

load helpers

@test "a call that fails once" { check_faults once; }
@test "a call that fails from then on" { check_faults on; }
@test "calls that are interrupted or move less than all" { check_faults harmless; }

@test "a signal before each call that has to do with a file that is written" { check_faults killed; }
