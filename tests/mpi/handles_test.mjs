// handles_test.mjs - threads of a process are given each other's handles, and
// what each has received is its own.
//
//     handles_test.mjs BIN FOLDER
//
// handles.c counts. EVENTSPACE_MPI_ROUNDS is how often each of its threads does
// what it does (3,000).
import assert from 'node:assert/strict';
import {join} from 'path';
import {compile, folder, mpis, sql, succeed} from './support.mjs';

const rounds = process.env.EVENTSPACE_MPI_ROUNDS ?? '3000';

for (const mpi of mpis) {
  const run = join(folder, `${mpi}.run`);
  const done = succeed(mpi, 1, ['--output', run],
                       [compile(mpi, 'handles.c'), rounds]);
  const counted = done.stdout.trim().split('\n').map(line => line.split(' '))
    .filter(([, messages]) => messages !== '0');
  for (const end of ['send', 'receive']) {
    const bytes = end === 'send' ? 'bytes' : 'bytes_received';
    const rows = sql(run, `select ${end}_thread as thread, count(*) as messages,
      sum(${bytes}) as bytes from message where status = '' and
      send_thread = receive_thread group by 1 order by 1`);
    assert.deepEqual(rows.map(row => Object.values(row)), counted,
                     `${mpi}: ${end}s`);
  }
  assert.deepEqual(sql(run, "select count(*) as n from message where status <> ''"),
                   [{n: '0'}], mpi);
  console.log(`${mpi}: ${counted.length} threads`);
}
