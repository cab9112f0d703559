--[[ backfill-step: begins or replaces a task of a backfill if it is unchanged since it was read and what it has sent is still entered, and stages
  the events to be sent next, each with the id of its delivery: an event that is erased meanwhile leaves the ids of the others as they are.
  A task that ends at an offset begins only while the subscription has read up to there.
  Each record is staged once per snapshot: the first time its image is read counts. What is staged is undelivered until a handler has had it.
  Atomic because: of two processes that work on a task only one may go on, and a chunk that is half staged would lose or repeat
  records.
  KEYS 1 backfills · 2 staged · 3 seen · 4 entered of the task · 5 undelivered · 6 offsets
  ARGV 1 name · 2 task as it was read ("" to begin it) · 3 task that replaces it ("" to end it)
       4 "keep" | "drop" the staged events, or "discard" what was seen and is undelivered too
       5 serial that was entered last in this step, or "" · 6 end of the log · 7 workspace · 8 log id that the offset has
       reached, or "" · 9 n · n × (record, id of the delivery or "", event)
  RETURN "moved" | "stale"    Cost O(n). Never calls TIME. ]]
--- @include "entry"
--- @include "serial"
local function numbersIn(logId)
  local ms, sequence = string.match(logId, '^(%d+)%-?(%d*)$')
  return tonumber(ms), tonumber(sequence) or 0
end

local stored = redis.call('HGET', KEYS[1], ARGV[1]) or ''
-- It was sent again after its reply was lost.
if ARGV[2] == '' and stored == ARGV[3] then return 'moved' end
if stored ~= ARGV[2] then return 'stale' end
if ARGV[8] ~= '' then
  local ms, sequence = numbersIn(redis.call('HGET', KEYS[6], ARGV[7]) or '0')
  local wantedMs, wantedSequence = numbersIn(ARGV[8])
  if ms < wantedMs or (ms == wantedMs and sequence < wantedSequence) then return 'stale' end
end
-- Redis went back since: the task sends it again.
if not hasEntered(KEYS[4], ARGV[5]) then return 'stale' end

if ARGV[4] ~= 'keep' then redis.call('UNLINK', KEYS[2]) end
if ARGV[4] == 'discard' then redis.call('UNLINK', KEYS[3], KEYS[5]) end
for at = 10, 7 + 3 * tonumber(ARGV[9]), 3 do
  local record, id, event = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  if redis.call('HSETNX', KEYS[3], record, ARGV[6]) == 1 and id ~= '' then
    redis.call('RPUSH', KEYS[2], id .. ' ' .. event)
    redis.call('HSET', KEYS[5], snapshotPartOf(id), id .. ' ' .. record)
  end
end
if ARGV[3] == '' then redis.call('HDEL', KEYS[1], ARGV[1]) else redis.call('HSET', KEYS[1], ARGV[1], ARGV[3]) end
return 'moved'
