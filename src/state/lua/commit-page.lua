--[[ commit-page: everything one page changed, or nothing of it.
  Atomic because: a crash between record state and log would lose or invent an event, and a checkpoint ahead of its page
  would skip it. A sweep that lost its lease writes nothing: its successor has read the state before.
  KEYS 1 digests · 2 records · 3 log · 4 sweep · 5 cursors · 6 lease
  ARGV 1 token · 2 checkpoint ("" on the last page) · 3 cursor followed next ("" on the last page)
       4 summary ("" before the last page) · 5 time of completion · 6 n · n × (key, digest, packed record, event or "")
  RETURN {"committed", events} · {"fenced", holder or ""}    Cost O(changed records). Never calls TIME. ]]
local holder = redis.call('GET', KEYS[6])
if holder ~= ARGV[1] then return { 'fenced', holder or '' } end

local events = 0
for i = 7, 6 + 4 * tonumber(ARGV[6]), 4 do
  redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
  redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 2])
  if ARGV[i + 3] ~= '' then
    redis.call('XADD', KEYS[3], '*', 'event', ARGV[i + 3])
    events = events + 1
  end
end

if ARGV[4] == '' then
  redis.call('HSET', KEYS[4], 'checkpoint', ARGV[2])
  redis.call('SADD', KEYS[5], ARGV[3])
else
  redis.call('HSET', KEYS[4], 'lastSweep', ARGV[4])
  redis.call('HSETNX', KEYS[4], 'baselineAt', ARGV[5])
  redis.call('HDEL', KEYS[4], 'checkpoint')
  redis.call('DEL', KEYS[5])
end
return { 'committed', events }
