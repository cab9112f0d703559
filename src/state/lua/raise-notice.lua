--[[ raise-notice: publishes a notice about a problem, once while it lasts.
  Atomic because: of several processes that see the problem only one publishes it, with the next sequence of its subject.
  KEYS 1 notices · 2 log
  ARGV 1 problem · 2 subject · 3 now, ms · 4 event up to its sequence · 5 event after its sequence · 6 facts for its end
       7 the first sequence of the epoch
  RETURN {"raised" | "known"}    Cost O(1). Never calls TIME. ]]
--- @include "count-notice"
local field = 'open ' .. ARGV[1]
local known = redis.call('HEXISTS', KEYS[1], field) == 1
redis.call('HSET', KEYS[1], field, ARGV[3])
if known then return { 'known' } end
redis.call('HSET', KEYS[1], 'facts ' .. ARGV[1], ARGV[6])
redis.call('XADD', KEYS[2], '*', 'event', ARGV[4] .. countNotice(KEYS[1], ARGV[2], ARGV[7]) .. ARGV[5])
return { 'raised' }
