// counted.mjs - whether a run has each call and message that a program, or
// counter.c in its stead, has counted.
//
// FOLDER/RANK.counts has a line for each name of a call ("call NAME COUNT", or
// "call NAME COUNT BYTES", where -1 are not counted), for bytes of collectives
// ("bytes NAME BYTES"), and for each peer ("sent PEER
// MESSAGES BYTES", "received PEER MESSAGES BYTES").
import assert from 'node:assert/strict';
import {readFileSync} from 'fs';
import {join} from 'path';
import {sql} from './support.mjs';

function add(own, kind, what, numbers) {
  own[kind][what] = kind === 'call' ? numbers.slice(0, 1) : numbers;
  if (kind === 'call' && numbers[1] >= 0)
    own.bytes[what] = [numbers[1]];
}

export function counted(logs, rank) {
  const own = {call: {}, bytes: {}, sent: {}, received: {}};
  const text = readFileSync(join(logs, `${rank}.counts`), 'utf8').trim();
  for (const [kind, what, ...numbers] of text.split('\n').map(l => l.split(' ')))
    if (numbers.some(number => Number(number) > 0))
      add(own, kind, what, numbers.map(Number));
  return own;
}

// Calls that complete several receives have an event for each of them, and those
// in which all take part another one at their site.
export function callsOf(run, ranks) {
  const text = "substr(c.name, instr(c.name, 'MPI_')) || ' '";
  const rows = sql(run, 'select thread, call, count(*) as count, ' +
    'sum(bytes) as bytes from (select e.thread as thread, ' +
    `substr(${text}, 1, instr(${text}, ' ') - 1) as call, ` +
    'max(e.bytes) as bytes from event e join collector c ' +
    'on c.id = e.collector group by e.thread, e.start_ticks, call) ' +
    'group by thread, call');
  const all = Array.from({length: ranks}, () => ({call: {}, bytes: {}}));
  for (const {thread, call, count, bytes} of rows) {
    all[thread].call[call] = [Number(count)];
    all[thread].bytes[call] = [Number(bytes)];
  }
  return all;
}

function messagesOf(run, ranks) {
  const all = Array.from({length: ranks}, () => ({sent: {}, received: {}}));
  const add = (end, kind, peer, bytes) => {
    for (const row of sql(run, `select ${end}_thread as rank, ${peer}_thread ` +
        `as peer, count(*) as count, sum(${bytes}) as bytes from message ` +
        `where ${end}_thread is not null group by rank, peer`))
      all[row.rank][kind][row.peer] = [Number(row.count), Number(row.bytes)];
  };
  add('send', 'sent', 'to', 'bytes');
  add('receive', 'received', 'from', 'bytes_received');
  return all;
}

// All that is sent is received, where only what was sent was counted.
function receivedOf(all, rank) {
  const own = all[rank].received;
  return Object.keys(own).length ? own : Object.fromEntries(all
    .map((other, peer) => [peer, other.sent[rank]]).filter(([, of]) => of));
}

function without(all, names) {
  return Object.fromEntries(
    Object.entries(all).filter(([name]) => !names.includes(name)));
}

// `more.except`: calls of which there are as many as a rank has to wait.
// Gives back how many calls by name there are, and messages.
export function check(name, run, logs, ranks, {except = []} = {}) {
  const wanted = Array.from({length: ranks}, (_, rank) => counted(logs, rank));
  const calls = callsOf(run, ranks), messages = messagesOf(run, ranks);
  let number = 0;
  for (let rank = 0; rank < ranks; rank++) {
    const about = `${name}, rank ${rank}`, own = wanted[rank];
    assert.deepEqual(without(calls[rank].call, except),
                     without(own.call, except), `${about}: calls`);
    for (const [call, bytes] of Object.entries(own.bytes))
      assert.deepEqual(calls[rank].bytes[call], bytes,
                       `${about}: bytes of ${call}`);
    assert.deepEqual(messages[rank].sent, own.sent, `${about}: sent`);
    assert.deepEqual(messages[rank].received, receivedOf(wanted, rank),
                     `${about}: received`);
    for (const [count] of Object.values(own.sent))
      number += count;
  }
  assert.deepEqual(
    sql(run, "select * from message where status <> '' limit 3"), [],
    `${name}: messages of which both ends do not agree`);
  return {calls: Object.keys(wanted[0].call).length, messages: number};
}
