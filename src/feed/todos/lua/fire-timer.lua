--[[ fire-timer: removes a todo's timer that is due and appends its event, once.
  Atomic because: an event without the removal would be repeated, a removal without the event would lose it; and since the todo
  was read, a sweep may have found it completed, moved or removed.
  KEYS 1 due · 2 records · 3 log · 4 missing · 5 state · 6 notices · 7 day of the event
  ARGV 1 timer · 2 its ms · 3 the todo's key · 4 its field in the records · 5 its packed record as it was read ("" for none)
       6 id of the step, different each time · 7 event ("" for none) · 8 its type · 9 its subject · 10 fields that count it · 11 ms that its day is kept
  RETURN {"fired", step or "" without event} · {"moved"}: timer or todo has changed
       · {"waits"}: the todo is missing, or an epoch must begin on this server first; the timer stays
  Cost O(log timers). Never calls TIME. ]]
--- @include "append-event"
--- @include "count-event"
--- @include "server"
--- @include "step"
if isElsewhere(KEYS[5]) then return { 'waits' } end
local score = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not score or tonumber(score) ~= tonumber(ARGV[2]) then return { 'moved' } end
if (redis.call('HGET', KEYS[2], ARGV[4]) or '') ~= ARGV[5] then return { 'moved' } end
if redis.call('HEXISTS', KEYS[4], ARGV[3]) == 1 then return { 'waits' } end
redis.call('ZREM', KEYS[1], ARGV[1])
if ARGV[7] == '' then return { 'fired', '' } end
appendEvent(KEYS[3], ARGV[7], ARGV[8], ARGV[9])
countEvent(KEYS[7], ARGV[10], ARGV[11])
return { 'fired', nextStep(KEYS[6], ARGV[6]) }
