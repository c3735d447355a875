package player;

public abstract class Player {
  protected String myName;
  public abstract Move chooseMove();
  public abstract boolean opponentMove(Move m);
  public abstract boolean forceMove(Move m);
}
