--[[ tell-unchanged: logs the events of records that have been unchanged for so long, and moves the mark up to which they were told.
  Atomic because: an event without the mark would be repeated, a mark without the event would lose it; and since they were read, a record may
  have changed, which is noted first (follow-changes), or another process may have told them.
  KEYS 1 unchanged · 2 the sorted set that is followed · 3 log · 4 state · 5 notices · 6 … days of the events
  ARGV 1 field of the mark · 2 the mark as it was read ("" for none) · 3 the new mark, ms of the last change · 4 log id up to which the log was read
       5 id of the step, different each time · 6 ms that days are kept
       then n × (record, ms of its last change, event, its type, its subject, number of the key of its day, fields that count it)
  RETURN {"told", events, step or ""} · {"moved"}: another process has read on, or told them · {"waits"}: an epoch must begin on this server first
  Cost O(n log records). Never calls TIME. ]]
--- @include "append-event"
--- @include "count-event"
--- @include "server"
--- @include "step"
if isElsewhere(KEYS[4]) then return { 'waits' } end
if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return { 'moved' } end
if redis.call('HGET', KEYS[1], 'readTo') ~= ARGV[4] then return { 'moved' } end
local events = 0
for i = 7, #ARGV, 7 do
  local score = redis.call('ZSCORE', KEYS[2], ARGV[i])
  if score and tonumber(score) == tonumber(ARGV[i + 1]) then
    appendEvent(KEYS[3], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4])
    countEvent(KEYS[tonumber(ARGV[i + 5])], ARGV[i + 6], ARGV[6])
    events = events + 1
  end
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return { 'told', events, events > 0 and nextStep(KEYS[5], ARGV[5]) or '' }
