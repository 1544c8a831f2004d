-- title: How much of each part of the run each thread communicates
-- chart: line
-- columns: at_ns, communicating_share, thread
-- param: parts=20
--
-- Paper 004, section 5.1: who communicates when. The run is cut into :parts
-- equal parts. An operation counts as communication from when its thread began
-- it until it had returned.
create temp table operation as
    select e.thread, e.start_ns, e.end_ns
    from event e join collector c on c.id = e.collector
    where c.thread is not null;

create temp table part as
    with recursive
        run as (select min(start_ns) as from_ns,
                       (max(end_ns) - min(start_ns)) / :parts + 1 as long_ns
                from operation),
        number(n) as (select 0 union all
                      select n + 1 from number where n + 1 < :parts)
    select from_ns + n * long_ns as from_ns,
           from_ns + (n + 1) * long_ns as to_ns
    from number, run;

select p.from_ns as at_ns, t.name as thread,
       coalesce(sum(min(o.end_ns, p.to_ns) - max(o.start_ns, p.from_ns)), 0)
           * 1.0 / (p.to_ns - p.from_ns) as communicating_share,
       count(o.thread) as operations
from part p join thread t
     left join operation o on o.thread = t.number
                          and o.start_ns < p.to_ns and o.end_ns > p.from_ns
group by p.from_ns, t.number
order by p.from_ns, t.number;
