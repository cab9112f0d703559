--[[ raise-notice: publishes a notice about a problem, once while it lasts.
  Atomic because: of several processes that see the problem only one publishes it, with the next sequence of its subject.
  KEYS 1 notices · 2 log
  ARGV 1 problem · 2 subject · 3 now, ms · 4 event up to its sequence · 5 event after its sequence · 6 facts for its end
  RETURN {"raised" | "known"}    Cost O(1). Never calls TIME. ]]
local field = 'open ' .. ARGV[1]
local known = redis.call('HEXISTS', KEYS[1], field) == 1
redis.call('HSET', KEYS[1], field, ARGV[3])
if known then return { 'known' } end
redis.call('HSET', KEYS[1], 'facts ' .. ARGV[1], ARGV[6])
local sequence = redis.call('HINCRBY', KEYS[1], 'count ' .. ARGV[2], 1)
redis.call('XADD', KEYS[2], '*', 'event', ARGV[4] .. string.format('%d', sequence) .. ARGV[5])
return { 'raised' }
