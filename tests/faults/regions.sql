-- title: Where threads were
-- chart: bar
-- columns: thread, visits
-- param: kind=region
select thread, count(*) as visits from regions_detail where kind = :kind
group by thread;
