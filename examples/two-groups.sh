#!/usr/bin/env bash
# Prints the number, the sum and the mean of two columns of CSV files, decimal amounts and integer
# quantities, for each shop and year, in one pass. The columns are found by their names; fields may be
# quoted, and contain commas and newlines:
#
#     column,shop,year,count,sum,mean
#
# Usage: two-groups.sh [FILE...]    files with the columns shop, year, "amount, EUR" and pieces;
#                                   default: a sample of 200 sales
# Environment: GPUHIST
set -euo pipefail

gpuhist=${GPUHIST:-gpuhist}

if [ $# -eq 0 ]; then
    sample=$(mktemp -d)
    trap 'rm -rf "$sample"' EXIT
    awk 'BEGIN { print "shop,year,article,\"amount, EUR\",pieces"
        for (i = 0; i < 200; i++)
            printf "%d,%d,\"article %d, \"\"size %d\"\"%s\",%d.%02d,%d\n", 1 + i * i % 3, 2024 + i % 2, i % 9,
                i % 5, i % 7 ? "" : "\nwith a note", i % 40, i * 3 % 100, 1 + i % 4 }' >"$sample/sales.csv"
    set -- "$sample/sales.csv"
fi

# A name with a comma is quoted; ":.2" means that its values have up to 2 decimal places.
"$gpuhist" reduce count,sum,mean --csv -f '"amount, EUR":.2,pieces' --by shop,year --format csv -- "$@"
