#!/bin/sh
# root.sh - a folder with libraries of another architecture, to link with.
#
#     root.sh FOLDER ARCHITECTURE MIRROR PACKAGE...
#
# Packages of Debian 12, and what they depend on, are downloaded by apt with
# lists of its own and unpacked into the folder. Nothing is installed, the
# architecture is not added to this system, and no package has to be of the
# version that this system has. A folder that has the same packages is left as
# it is.
set -eu
folder=$1
architecture=$2
mirror=$3
shift 3

made="$mirror $architecture $*"
[ "$(cat "$folder.made" 2>/dev/null)" != "$made" ] || exit 0
command -v apt-get >/dev/null || {
    echo "root.sh: the libraries for $architecture come by apt-get, which is" \
        "not there" >&2
    exit 1
}
rm -rf "$folder" "$folder.made"
mkdir -p "$folder/usr/lib"
ln -s usr/lib "$folder/lib"

apt=$(mktemp -d)
trap 'rm -rf "$apt"' EXIT
mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$apt/none"
: >"$apt/status"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
    "$mirror bookworm main" >"$apt/sources.list"
cat >"$apt/conf" <<END
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
APT::Install-Recommends "false";
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::Retries "3";
APT::Update::Error-Mode "any";
Dir::State "$apt";
Dir::State::status "$apt/status";
Dir::Cache "$apt";
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "$apt/none";
Dir::Etc::preferences "$apt/none/preferences";
Dir::Etc::preferencesparts "$apt/none";
END
apt-get -c "$apt/conf" update
apt-get -c "$apt/conf" install -y --download-only "$@"
for package in "$apt"/archives/*.deb; do
    # Not -x, which makes a folder of its own in place of the link `lib`.
    dpkg-deb --fsys-tarfile "$package" |
        tar -x -C "$folder" --no-same-owner --keep-directory-symlink \
            --exclude='./usr/share/[!p]*'
done

# Links that begin with / mean this folder, not the system's.
find "$folder" -type l -lname '/*' | while read -r link; do
    ln -sfnr "$folder$(readlink "$link")" "$link"
done
echo "$made" >"$folder.made"
