// launchers.mjs - launchers of jobs, each with four machines that are this one.
import {mkdirSync, rmSync, writeFileSync} from 'fs';
import {join, resolve} from 'path';
import {sparingWith} from '../mpi/sparing.mjs';

export const folder = process.env.FOLDER, bin = resolve(process.argv[2]);
const here = import.meta.dirname;
const elsewhere = join(here, 'elsewhere.sh');
const machines = ['m1', 'm2', 'm3', 'm4'];

// As before anybody has left anything.
export function temporaryMake() {
  rmSync(process.env.TMPDIR, {recursive: true, force: true, maxRetries: 5});
  for (const machine of machines)
    mkdirSync(join(process.env.TMPDIR, machine), {recursive: true});
}

// Root may start Open MPI; ranks that wait give way to others.
const environment = {...process.env, OMPI_ALLOW_RUN_AS_ROOT: '1',
  OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1', OMPI_MCA_mpi_yield_when_idle: '1',
  OMPI_MCA_plm_rsh_agent: elsewhere, OMPI_MCA_oob_tcp_if_include: 'lo',
  OMPI_MCA_btl_tcp_if_include: 'lo', MPIR_CVAR_CH3_NOLOCAL: '0',
  ...sparingWith(bin)};

function hostFile(each) {
  const file = join(folder, 'machines');
  writeFileSync(file, machines.map(m => `${m} slots=${each}\n`).join(''));
  return file;
}

// The words in front of the command of each task, the name that the daemons of
// each machine have, and what of its own a launcher leaves when it, or a daemon,
// is killed: also without us.
const all = {
  openmpi: {daemon: 'orted', 
    leaves: /^(file (m\d\/)?(ompi\.|pmix|\d+$)|shared memory vader_segment\.)/,
    four: each => ['mpirun.openmpi', '--hostfile', hostFile(each)],
    one: () => ['mpirun.openmpi', '--oversubscribe']},
  mpich: {daemon: 'hydra_pmi_proxy', leaves: /^$/,
    four: each => ['mpiexec.mpich', '-launcher', 'ssh', '-launcher-exec',
      elsewhere, '-hosts', machines.map(m => `${m}:${each}`).join()],
    one: () => ['mpiexec.mpich', '-launcher', 'fork']},
  slurm: {daemon: 'slurmstepd', leaves: /^$/,
    four: () => ['srun', '-K', '-W5', '-N4', '--mpi=pmix']},
};

// On four machines; or on one, as ranks of Open MPI name their shared memory by
// the name of the machine and their number there.
export function launcherOf(name, tasks, where = 'four') {
  const launcher = all[name];
  return {name, environment, ...launcher, front: [
    ...launcher[where](tasks / machines.length), '-n', `${tasks}`]};
}
