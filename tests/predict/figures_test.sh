#!/bin/sh
# The figures of docs/prediction.md are those that the models give now:
# figures_test.sh PRINT NODE FOLDER
set -u
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
"$1" | "$2" "$3/make.mjs" "$folder" || exit 1
for number in 4 5 6 7 8; do
    cmp "$folder/prediction-$number.svg" "$3/prediction-$number.svg" || exit 1
done
