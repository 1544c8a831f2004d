-- title: Which thread comes last to each collective, how often, and by how much
-- chart: bar
-- columns: thread, last
--
-- Paper 004, section 5.2: who comes last. The n-th operations of all threads on
-- one path belong together; this holds where no events were lost. The last of
-- them lets the others go. `behind` is the time since the one before it came.
create temp table arrival as
    select c.path, e.thread, e.start_ns,
           row_number() over (partition by c.path, e.thread
                              order by e.sequence) as round
    from event e join collector c on c.id = e.collector
    where c.thread is not null and e.verb = 'exchange';

create temp table placed as
    select *, row_number() over (partition by path, round
                                 order by start_ns desc) as place,
           start_ns - lead(start_ns) over (partition by path, round
                                           order by start_ns desc) as behind_ns
    from arrival;

select p.path, t.name as thread, count(*) as last,
       count(*) * 1.0 / (select max(round) from arrival a where a.path = p.path)
           as last_share,
       avg(behind_ns) as behind_ns, max(behind_ns) as most_behind_ns
from placed p join thread t on t.number = p.thread
where p.place = 1
group by p.path, t.number
order by p.path, last desc;
