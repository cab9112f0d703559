--[[ commit: commits everything that one step of a walk or a shortcut changes, or nothing of it. Every write of a sweep is such a step.

  A process can be killed (kill -9) before or after this script, never within it. Before: the checkpoint still names the page's cursor, the next
  process reads it again, and a change found again gets the same event id. After: the next process goes on with the next page, and dispatchers
  read the events from the log. Redis logs the writes of a script as one transaction: a Redis that was killed replays all of them or none.

  Atomic because: a crash between stored records and log would lose or repeat an event; a checkpoint ahead of its page would
  skip the page; a todo's timer that does not belong to its stored record would fire at the wrong time; a page that is recognised
  although its records are stored differently would hide a change; a day that does not count what the log has would never agree again. So it has more keys than
  other scripts: one for each thing that must agree with the records.

  Fenced: a sweep that lost its lease writes nothing, because its successor has already read the stored records.
  In turn: the last step of the list is that before this one, because one process at a time commits. Otherwise that one did not arrive.
  Back: a step that was stored is gone, or another one is in its place. Nothing is written: the next sequence of a record may have been given out already.
  Elsewhere: on another server than that of the state, an epoch begins first. The end of the log may be gone there.
  Idempotent: a client that lost its connection sends a command again on its own; the id of the step makes the repetition a no-op.
  Lost: if records were stored ("kept" in the sweep) and the records hash is gone (evicted, deleted), nothing of the page is
  written, because every record would appear new. The baseline is deleted; the next sweep is a baseline without events ("quiet").
  When the sweep completes, its failure is over; what only the walk needed is deleted, and what the list kept in its other form.
  A repetition of a step after a crash finds the fields that it moves gone, and skips them.
  Without checkpoint and summary, the sweep stays where it is: a page that was read outside its order.
  History: what undoes each decision is kept in the same step, or a past state would be made of the wrong present one. A step that did not keep
  it (by an earlier release, or while the option was off), and other masks, end it: it begins again, and nothing is known of the time before.

  KEYS 1 records · 2 log · 3 sweep · 4 lease · 5 due · 6 members · 7 pages · 8 missing · 9 created
       10 cursors of the walk · 11 its members · 12 its pages · 13 what the list kept in its other form (records or rows)
       14 unconfirmed · 15 state · 16 history · 17 changed · 18 … the days on which its events are counted
  ARGV 1 token · 2 this step, `<number> <unique id>` ("" where it may be repeated: it has no records and no events)
       3 checkpoint ("" when the sweep completes, and for a shortcut)
       4 summary ("" until the sweep completes) · 5 time of completion
       6 "records", or "rows" where rows are only recognised: their digests are added to what a field has
       7 now, ms ("" where no history is kept) · 8 its masks · 9 changes it keeps · 10 ms that it keeps them
       11 n · n × (field, packed record or digest of a row, packed past or "", e, e × (event, type, subject)): the record's own event first, then
         those derived from it
       then m · m × (event, type, subject): about the list
       then k · k × (number of a key, "set" | "incr" | "del" of a field, "add" to a set, "forget" a page, "move" a field to another key,
         "take" all of another set, "expire" the key after so many ms, or "drop" the key, field, value or number of the other key)
       then t · t × (timer, ms or "" for none)
       last: the step that was sent before this one ("" where it is not known) · the last step that is known to be stored (the same)
  RETURN {"committed", events} · {"fenced", holder or ""} · {"back"} · {"elsewhere"} · {"lost"}
  Cost O(changed records). Never calls TIME. ]]
--- @include "append-event"
--- @include "forget-page"
--- @include "past"
--- @include "server"
--- @include "step"
local step, before = redis.call('HGET', KEYS[3], 'step') or '', ARGV[#ARGV - 1]
-- Also without the lease, which may be gone with the step.
if lacksStep(KEYS[3], ARGV[#ARGV]) then return { 'back' } end
local holder = redis.call('GET', KEYS[4])
if holder ~= ARGV[1] then return { 'fenced', holder or '' } end
if ARGV[2] ~= '' and step == ARGV[2] then return { 'committed', 0 } end
if before ~= '' and step ~= before then return { 'fenced', holder } end
if isElsewhere(KEYS[15]) then return { 'elsewhere' } end
if redis.call('EXISTS', KEYS[1], KEYS[13]) > 0 then
  redis.call('HSET', KEYS[3], 'kept', 1)
elseif redis.call('HEXISTS', KEYS[3], 'kept') == 1 then
  redis.call('HDEL', KEYS[3], 'baselineAt', 'checkpoint', 'kept', 'fresh', 'discarded')
  redis.call('HSET', KEYS[3], 'quiet', 1)
  endHistory(KEYS[3], KEYS[16], KEYS[17])
  return { 'lost' }
end
local hasHistory = false
if ARGV[2] ~= '' then
  keepStep(KEYS[3], ARGV[2])
  hasHistory = followHistory(KEYS[3], KEYS[16], KEYS[17], step, 7)
end

local events = 0
-- Appends so many events, the first of which begins after `at`. Returns where the last one ends.
local function append(count, at)
  for i = at + 1, at + 3 * count, 3 do appendEvent(KEYS[2], ARGV[i], ARGV[i + 1], ARGV[i + 2]) end
  events = events + count
  return at + 3 * count
end

local at = 12
if tonumber(ARGV[11]) > 0 then redis.call('HSET', KEYS[3], 'kept', 1) end
for _ = 1, tonumber(ARGV[11]) do
  local rows = ARGV[6] == 'rows' and redis.call('HGET', KEYS[1], ARGV[at]) or ''
  redis.call('HSET', KEYS[1], ARGV[at], rows .. ARGV[at + 1])
  if hasHistory and ARGV[at + 2] ~= '' then keepPast(KEYS[16], KEYS[17], ARGV[at], ARGV[at + 2]) end
  at = append(tonumber(ARGV[at + 3]), at + 3) + 1
end
if hasHistory then trimHistory(KEYS[3], KEYS[16], 7) end
at = append(tonumber(ARGV[at]), at) + 1

for _ = 1, tonumber(ARGV[at]) do
  local key, op, field, value = KEYS[tonumber(ARGV[at + 1])], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4]
  if op == 'set' then redis.call('HSET', key, field, value)
  elseif op == 'del' then redis.call('HDEL', key, field)
  elseif op == 'add' then redis.call('SADD', key, field)
  elseif op == 'expire' then redis.call('PEXPIRE', key, value)
  elseif op == 'forget' then forgetPage(key, field)
  elseif op == 'drop' then redis.call('UNLINK', key)
  elseif op == 'take' then
    redis.call('SUNIONSTORE', key, key, KEYS[tonumber(value)])
    redis.call('UNLINK', KEYS[tonumber(value)])
  elseif op == 'move' then
    local moved = redis.call('HGET', key, field)
    if moved then
      redis.call('HSET', KEYS[tonumber(value)], field, moved)
      redis.call('HDEL', key, field)
    end
  -- Below 0: the field was not tracked when the record was added, and is when it is removed.
  elseif redis.call('HINCRBY', key, field, value) <= 0 then redis.call('HDEL', key, field) end
  at = at + 4
end
at = at + 1

for i = at + 1, at + 2 * tonumber(ARGV[at]), 2 do
  if ARGV[i + 1] == '' then redis.call('ZREM', KEYS[5], ARGV[i])
  else redis.call('ZADD', KEYS[5], ARGV[i + 1], ARGV[i]) end
end

if ARGV[3] ~= '' then
  redis.call('HSET', KEYS[3], 'checkpoint', ARGV[3])
elseif ARGV[4] ~= '' then
  redis.call('HSET', KEYS[3], 'lastSweep', ARGV[4])
  redis.call('HSETNX', KEYS[3], 'baselineAt', ARGV[5])
  beginHistory(KEYS[3], 7)
  local failure = redis.call('HGET', KEYS[3], 'failure')
  if failure then redis.call('HSET', KEYS[3], 'lastFailure', failure) end
  redis.call('HDEL', KEYS[3], 'checkpoint', 'quiet', 'failure')
  redis.call('UNLINK', KEYS[10], KEYS[11], KEYS[12], KEYS[13])
end
return { 'committed', events }
