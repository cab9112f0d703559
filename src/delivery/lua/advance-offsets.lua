--[[ advance-offsets: moves offsets of subscriptions in the logs of workspaces, each only from where its batch was read, and only while its
  deliveries are entered and the backfill that was begun on the way is stored.
  Atomic because: an offset that is no longer there was moved by another dispatcher, or Redis went back to an earlier state. In both cases
  the one in Redis is right, and a write over it would repeat or skip events. Redis may also have gone back to where the batch was read but
  not entered: an offset that moved then would skip it.
  KEYS n × (offsets of the subscription · entered from the log · backfills)
  ARGV n × (workspace · log id from, "" for none · log id to · serial entered last, or "" · name of the task begun, or "")
  RETURN "done"    Cost O(n). Never calls TIME. ]]
--- @include "serial"
for n = 1, #ARGV / 5 do
  local offsets, entered, backfills = unpack(KEYS, 3 * n - 2, 3 * n)
  local workspace, from, to, serial, task = unpack(ARGV, 5 * n - 4, 5 * n)
  local isBegun = task == '' or redis.call('HEXISTS', backfills, task) == 1
  if isBegun and (redis.call('HGET', offsets, workspace) or '') == from and hasEntered(entered, serial) then
    redis.call('HSET', offsets, workspace, to)
  end
end
return 'done'
