--[[ start-epoch: replaces the state of a workspace by one of the next epoch, unless it has changed since it was read.
  Atomic because: of several processes that notice that Redis went back, one starts the epoch, and the others find it.
  KEYS 1 state    ARGV 1 state as it was read · 2 state of the next epoch
  RETURN {"started" | "moved"}    Cost O(1). Never calls TIME. ]]
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return { 'moved' } end
redis.call('SET', KEYS[1], ARGV[2])
return { 'started' }
