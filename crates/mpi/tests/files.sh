#!/usr/bin/env bash
# Compares the files that carom-mpi writes with those of carom, byte for byte.
#
# Usage: files.sh CAROM CAROM_MPI COMMAND... where COMMAND starts a program on all ranks, such as mpirun -n 3.
set -euo pipefail
carom=$1 carom_mpi=$2
shift 2
ranks=("$@")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

python3 - <<'PY'
import math, random, struct
random.seed(51)
def array(name, rows, code):
    columns = len(rows[0]) if rows else 7
    head = "{'descr': '<%s', 'fortran_order': False, 'shape': (%d, %d), }" % ({'f': 'f4', 'd': 'f8'}[code], len(rows), columns)
    head += ' ' * (64 - (len(head) + 11) % 64) + '\n'
    with open(name, 'wb') as file:
        file.write(b'\x93NUMPY\x01\0' + struct.pack('<H', len(head)) + head.encode())
        for row in rows:
            file.write(struct.pack('<%d%s' % (columns, code), *row))
def sphere():
    number = random.uniform
    return [number(0, 20) for _ in range(3)] + [number(0.3, 0.8)] + [number(-2, 2) for _ in range(3)]
rows = [sphere() for _ in range(4000)]
array('narrow.npy', rows, 'f')
array('wide.npy', rows, 'd')
array('few.npy', rows[:2], 'd')
array('none.npy', [], 'd')
head = 'x,y,z,radius,vx,vy,vz\n'
line = lambda row: ','.join(map(repr, row)) + '\n'
text = ''.join(map(line, rows))
open('plain.csv', 'w').write(head + text)
open('unended.csv', 'w').write(head + text[:-1])
open('crlf.csv', 'w', newline='').write((head + text).replace('\n', '\r\n'))
open('blank.csv', 'w').write(head + '\n' + text + '\n')
open('comment.csv', 'w').write('# made by hand\n' + head + text)
open('few.csv', 'w').write(head + text[:300].rsplit('\n', 1)[0] + '\n')
open('none.csv', 'w').write(head)
open('bad.csv', 'w').write(head + ''.join(map(line, rows[:3000])) + '1,2,three,1,0,0,0\n' + ''.join(map(line, rows[3000:])))
open('negative.csv', 'w').write(head + ''.join(map(line, rows[:2500])) + '1,2,3,-1,0,0,0\n' + ''.join(map(line, rows[2500:])))
open('short.csv', 'w').write(head + text + '1,2,3\n')
dump = 'ITEM: TIMESTEP\n7\nITEM: NUMBER OF ATOMS\n%d\nITEM: BOX BOUNDS pp pp ff\n0 20\n0 20\n0 20\nITEM: ATOMS x y z radius vx vy vz\n' % len(rows)
open('atoms.dump', 'w').write(dump + ''.join(' '.join(map(repr, row)) + '\n' for row in rows))
open('mesh.obj', 'w').write('v 0 0 3\nv 20 0 4\nv 20 20 5\nv 0 20 4\nf 1 2 3\nf 1 3 4\n')
PY
dd if=wide.npy of=cut.npy bs=1000 count=100 status=none
gzip -k plain.csv

count=0
# same ARGUMENTS...: both tools write the same list to one.FORMAT and all.FORMAT.
same() {
    local format
    for format in csv npy npz; do
        rm -f one.* all.*
        "$carom" "$@" --backend cpu --output one.$format >/dev/null 2>&1
        "${ranks[@]}" "$carom_mpi" "$@" --backend cpu --output all.$format >/dev/null
        if [[ $format == npz ]]; then
            # Archives have the time of day, so their arrays are compared.
            python3 - <<'PY'
import zipfile
one, other = (zipfile.ZipFile(name + '.npz') for name in ('one', 'all'))
assert one.namelist() == other.namelist()
assert all(one.read(name) == other.read(name) for name in one.namelist())
PY
        else
            cmp one.$format all.$format || { echo "carom-mpi $*: another list" >&2; exit 1; }
        fi
        count=$((count + 1))
    done
}

# fails ARGUMENTS...: both tools fail with the same error, and write nothing.
fails() {
    local one all status=0
    rm -f out.csv
    one=$("$carom" "$@" --backend cpu --output out.csv 2>&1 >/dev/null | grep '^error:') || true
    all=$("${ranks[@]}" "$carom_mpi" "$@" --backend cpu --output out.csv 2>all.txt >/dev/null) || status=$?
    all=$(grep '^error:' all.txt) || true
    if [[ $status != 1 || $one != "$all" || -z $one ]]; then
        printf 'carom-mpi %s:\nexit code %s\n%s\ninstead of\n%s\n' "$*" "$status" "$all" "$one" >&2
        exit 1
    fi
    if [[ -e out.csv ]] || compgen -G '.carom-*' >/dev/null; then
        echo "carom-mpi $*: a file was left" >&2
        exit 1
    fi
    count=$((count + 1))
}

for input in narrow.npy wide.npy plain.csv; do
    same collide $input --dt 0.5
done
for input in few.npy none.npy unended.csv crlf.csv blank.csv comment.csv few.csv none.csv plain.csv.gz atoms.dump; do
    same collide $input --dt 0.25
done
# reads INPUT READER: says who reads a file.
reads() {
    "${ranks[@]}" "$carom_mpi" collide "$1" --dt 0.5 --backend cpu --progress 2>&1 >/dev/null | grep -qx "read by $2"
    count=$((count + 1))
}
for input in narrow.npy wide.npy plain.csv unended.csv crlf.csv; do
    reads $input 'all ranks'
done
for input in blank.csv comment.csv plain.csv.gz atoms.dump; do
    reads $input 'rank 0'
done
same collide wide.npy --dt 0.5 --box '0 0 0 20 20 20' --periodic abc
same collide narrow.npy --dt 0.5 --box '0 0 0 20 20 20' --periodic ab
same neighbors narrow.npy --cutoff 1.5
same neighbors plain.csv --cutoff 1.5 --full
same neighbors atoms.dump --cutoff 1.5 --full
for input in narrow.npy wide.npy; do
    walls=(--wall 'plane 0 0 1 1' --wall 'sphere 10 10 10 3' --mesh mesh.obj)
    rm -f one.csv all.csv
    "$carom" collide $input --dt 1 --backend cpu "${walls[@]}" --walls-output one.csv >/dev/null
    "${ranks[@]}" "$carom_mpi" collide $input --dt 1 --backend cpu "${walls[@]}" --walls-output all.csv >/dev/null
    cmp one.csv all.csv
    count=$((count + 1))
done
"$carom" collide plain.csv --dt 0.5 --backend cpu --output - >one.csv 2>/dev/null
"${ranks[@]}" "$carom_mpi" collide plain.csv --dt 0.5 --backend cpu --output - >all.csv 2>/dev/null
cmp one.csv all.csv

fails collide bad.csv --dt 0.5
fails collide negative.csv --dt 0.5
fails collide short.csv --dt 0.5
fails collide cut.npy --dt 0.5
fails collide missing.csv --dt 0.5
fails collide wide.npy --dt 0.5 --mesh missing.obj
fails neighbors plain.csv --cutoff 1e-320
fails collide few.csv --dt 1 --box '0 0 0 1e-5 1e-5 1e-5' --periodic abc
status=0
"${ranks[@]}" "$carom_mpi" collide wide.npy --dt 0.5 --backend cpu --output no/folder/out.csv >/dev/null 2>all.txt || status=$?
[[ $status == 1 ]] && grep -q 'error: cannot write no/folder/out.csv: the folder no/folder does not exist' all.txt

# A rank that dies ends the others, and no list appears.
cat >dying.sh <<'SH'
if [[ ${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-}} == 1 ]]; then
    exec timeout --signal KILL 0.4 "$@"
fi
exec "$@"
SH
status=0
python3 -c "
with open('wide.npy', 'rb') as file: bytes = file.read()
head, rows = bytes[:128], bytes[128:]
assert len(rows) == 4000 * 56
open('large.npy', 'wb').write(head.replace(b'(4000, 7), }  ', b'(400000, 7), }') + rows * 100)"
"${ranks[@]}" bash dying.sh "$carom_mpi" collide large.npy --radius 0 --dt 0.5 --backend cpu --output out.csv >/dev/null 2>&1 || status=$?
[[ $status != 0 && ! -e out.csv ]]
echo "files.sh: $count comparisons hold"
