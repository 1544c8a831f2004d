-- title: Which thread waits for which, how often, and how long
-- chart: bar
-- columns: thread, waited_ns, waits_for
-- param: from_ns=0
--
-- Paper 004, section 5.3: who waits for whom. In each round of a collective, a
-- thread waits from when it comes until the last one comes. Only rounds whose
-- operations began at :from_ns or later count.
create temp table arrival as
    select c.path, e.thread, e.start_ns,
           row_number() over (partition by c.path, e.thread
                              order by e.sequence) as round
    from event e join collector c on c.id = e.collector
    where c.thread is not null and e.verb = 'exchange';

create temp table wait as
    select path, round, thread, start_ns,
           first_value(thread) over last as other,
           first_value(start_ns) over last - start_ns as waited_ns,
           min(start_ns) over (partition by path, round) as began_ns
    from arrival
    window last as (partition by path, round order by start_ns desc);

select a.name as thread, b.name as waits_for, w.path as over,
       count(*) as count, sum(waited_ns) as waited_ns,
       avg(waited_ns) as mean_ns, max(waited_ns) as max_ns
from wait w join thread a on a.number = w.thread
     join thread b on b.number = w.other
where w.thread <> w.other and w.began_ns >= :from_ns
group by a.number, b.number, w.path
order by waited_ns desc;
