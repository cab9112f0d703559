--[[ start-epoch: replaces the state of a workspace by one of the next epoch, unless it has changed since it was read, and reports it.
  Atomic because: of several processes that notice that Redis went back, one starts the epoch, and the others find it. Readers of the log find the
  event before everything that is written in the epoch.
  KEYS 1 state · 2 notices · 3 log
  ARGV 1 state as it was read · 2 state of the next epoch
       to report it: 3 problem · 4 subject · 5 now, ms · 6 event up to its sequence · 7 event after its sequence · 8 facts for its end
       · 9 the first sequence of the epoch
  RETURN {"started" | "moved"}    Cost O(1). Never calls TIME. ]]
--- @include "count-notice"
--- @include "publish-notice"
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return { 'moved' } end
redis.call('SET', KEYS[1], ARGV[2])
-- Also while an earlier one is open.
if ARGV[3] then publishNotice(KEYS[2], KEYS[3], 3) end
return { 'started' }
