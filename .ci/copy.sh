# Sourced by the scripts beside it: go to a copy of this working tree, removed at the end, so that
# nobody's .venv is touched. What git ignores stays behind; changes not yet committed come along.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

files() {  # an unpacked archive has no git to ask
  git ls-files -z --cached --others --exclude-standard 2>/dev/null ||
    find . \( -name .venv -o -name .git -o -name __pycache__ \) -prune -o -type f -print0
}

cd "$root"
files | while IFS= read -r -d '' file; do
  if [ -f "$file" ]; then printf '%s\0' "$file"; fi  # git lists deleted files, too
done | tar --null -T - -cf - | tar -xf - -C "$copy"

# The papers' data sets: the folder named, else one that lies beside the checkout.
if [ -z "${CONCLUST_DATA:-}" ]; then
  for manifest in "$root"/../*/data/MANIFEST.json; do
    if [ -f "$manifest" ]; then
      CONCLUST_DATA=$(cd "$(dirname "$manifest")" && pwd)
      export CONCLUST_DATA
      break
    fi
  done
fi
echo "Testing the files of $root, changes not yet committed included; papers' data: ${CONCLUST_DATA:-none}"
cd "$copy"
