--[[ commit-page: everything one page changed, or nothing of it; after the last page, everything one step of settling changed.
  Atomic because: a crash between record state and log would lose or invent an event, and a checkpoint ahead of its page
  would skip it. A sweep that lost its lease writes nothing: its successor has read the state before.
  Called twice it takes effect once: a client whose connection broke sends again what was not answered, without our knowing.
  KEYS 1 digests · 2 records · 3 log · 4 sweep · 5 walk (members, when removals are settled) · 6 lease · 7 due
  One key more than any other script has: a time set apart from the record it was read from would be a lie after a crash.
  ARGV 1 token · 2 name of this step, which no other has · 3 checkpoint ("" when the sweep is closed) · 4 cursor followed next ("" where there is none)
       5 summary ("" until the sweep is closed) · 6 time of completion
       7 n · n × (key, digest, packed record, e, e × event): a record's own event first, then what follows from it
       then m · m × event about the list
       then k · k × (4 or 5, "set" | "incr" | "del", field, value): fields of the hash under that key
       then t · t × (timer, ms or "" for none)
  Closing drops the walk, except for records that wait for the next sweep.
  A list whose records were kept ("kept" in the sweep) and are gone (evicted, deleted) gets nothing of this page: every record
  would look new. Its baseline is forgotten, and its digests, which would vouch for records that are not kept; the next sweep is
  a baseline without events ("quiet").
  RETURN {"committed", events} · {"fenced", holder or ""} · {"lost"}    Cost O(changed records). Never calls TIME. ]]
local holder = redis.call('GET', KEYS[6])
if holder ~= ARGV[1] then return { 'fenced', holder or '' } end
if redis.call('HGET', KEYS[4], 'step') == ARGV[2] then return { 'committed', 0 } end
if redis.call('EXISTS', KEYS[2]) == 1 then
  redis.call('HSET', KEYS[4], 'kept', 1)
elseif redis.call('HEXISTS', KEYS[4], 'kept') == 1 then
  redis.call('UNLINK', KEYS[1])
  redis.call('HDEL', KEYS[4], 'baselineAt', 'checkpoint', 'kept')
  redis.call('HSET', KEYS[4], 'quiet', 1)
  return { 'lost' }
end
redis.call('HSET', KEYS[4], 'step', ARGV[2])

local events = 0
local at = 8
if tonumber(ARGV[7]) > 0 then redis.call('HSET', KEYS[4], 'kept', 1) end
for _ = 1, tonumber(ARGV[7]) do
  redis.call('HSET', KEYS[1], ARGV[at], ARGV[at + 1])
  redis.call('HSET', KEYS[2], ARGV[at], ARGV[at + 2])
  local last = at + 3 + tonumber(ARGV[at + 3])
  for i = at + 4, last do
    redis.call('XADD', KEYS[3], '*', 'event', ARGV[i])
    events = events + 1
  end
  at = last + 1
end

for i = at + 1, at + tonumber(ARGV[at]) do
  redis.call('XADD', KEYS[3], '*', 'event', ARGV[i])
  events = events + 1
end
at = at + tonumber(ARGV[at]) + 1

for _ = 1, tonumber(ARGV[at]) do
  local key, op, field, value = KEYS[tonumber(ARGV[at + 1])], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4]
  if op == 'set' then redis.call('HSET', key, field, value)
  elseif op == 'del' then redis.call('HDEL', key, field)
  -- Below 0: of a field that was not tracked when its record came, and is when it goes.
  elseif redis.call('HINCRBY', key, field, value) <= 0 then redis.call('HDEL', key, field) end
  at = at + 4
end
at = at + 1

for i = at + 1, at + 2 * tonumber(ARGV[at]), 2 do
  if ARGV[i + 1] == '' then redis.call('ZREM', KEYS[7], ARGV[i])
  else redis.call('ZADD', KEYS[7], ARGV[i + 1], ARGV[i]) end
end

if ARGV[5] == '' then
  redis.call('HSET', KEYS[4], 'checkpoint', ARGV[3])
  if ARGV[4] ~= '' then redis.call('HSET', KEYS[5], 'c ' .. ARGV[4], '') end
else
  redis.call('HSET', KEYS[4], 'lastSweep', ARGV[5])
  redis.call('HSETNX', KEYS[4], 'baselineAt', ARGV[6])
  redis.call('HDEL', KEYS[4], 'checkpoint', 'quiet')
  local waiting = false
  local cursors = {}
  for _, name in ipairs(redis.call('HKEYS', KEYS[5])) do
    if string.sub(name, 1, 2) == 'h ' then waiting = true else cursors[#cursors + 1] = name end
  end
  if waiting then
    for _, name in ipairs(cursors) do redis.call('HDEL', KEYS[5], name) end
  else
    redis.call('UNLINK', KEYS[5])
  end
end
return { 'committed', events }
